# What the interpreter is started with, as python -c: reads this package from the host, and serves it.
import builtins
import json
import sys
from posix import read

parts = [read(0, 1 << 16)]
while len(parts[-1]) == 1 << 16:
    parts.append(read(0, 1 << 16))
texts = json.loads(b"".join(parts))
importing = {"__name__": "importing"}
exec(compile(texts["_toolrun/importing.py"], "<toolrun>/importing.py", "exec"), importing)
# Its modules get builtins of their own, which no tool changes.
sys.meta_path.insert(0, importing["Texts"](texts, "<toolrun>/", dict(vars(builtins))))

from _toolrun.prepare import prepare  # noqa: E402
from _toolrun.serving import serve  # noqa: E402
from time import time  # noqa: E402

prepare()
# The host takes its picture in this call, for it is one during which Python keeps the lock of the interpreter.
time()
while serve():
    pass
