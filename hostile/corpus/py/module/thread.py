# A thread, from a module of C that is loaded anew since the one that is there was changed.
# expect: tool_error
import importlib.machinery
import importlib.util
import sys
sys.modules.pop('_thread', None)
spec = importlib.machinery.BuiltinImporter.find_spec('_thread')
fresh = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fresh)
fresh.start_new_thread(print, ())
