# The function that answers is found among all objects, and its code replaced.
# expect: tool_error or output
import gc
import types
for found in gc.get_objects() + [o for m in gc.get_objects() if isinstance(m, dict) for o in m.values()]:
    if isinstance(found, types.FunctionType) and found.__name__ == 'send':
        found.__code__ = (lambda *fields: None).__code__
return 'answer'
