# Builtin functions that lie, for whoever uses them.
# expect: output {"a":1,"marker":1}
import builtins
read = memory.get_content
builtins.isinstance = builtins.issubclass = builtins.callable = lambda *a: False
builtins.len = builtins.hash = lambda *a: 10 ** 6
builtins.str = builtins.dict = builtins.list = builtins.type = None
builtins.__import__ = builtins.getattr = builtins.setattr = None
return {'a': 1, 'marker': read('shared')['marker']}
