# The functions that speak with the host are replaced in the module that holds them.
# expect: output or tool_error
import sys
for name, module in list(sys.modules.items()):
    if name.startswith('_toolrun'):
        for key in ('send', 'receive', 'ask', 'write', 'read', 'encode', 'quote', 'decode'):
            if hasattr(module, key):
                setattr(module, key, lambda *a, **k: b'')
return 1
