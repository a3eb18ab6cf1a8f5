# The table of modules is emptied, and what finds modules too.
# expect: output {"marker":1}
import sys
sys.modules.clear()
sys.meta_path.clear()
sys.path_hooks.clear()
sys.path.clear()
return memory.get_content('shared')
