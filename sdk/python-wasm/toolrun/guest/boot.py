# The first program that the interpreter runs (python -c). The program reads this package from the host and
# serves requests.
import builtins
import sys
import zipimport
from _imp import _fix_co_filename
from posix import read

# The standard library was compiled on another machine. The folders of that machine must not appear
# in tracebacks.
unmarshal = zipimport._unmarshal_code


def name_file(code, file):
    _fix_co_filename(code, "<python>/" + file.removesuffix("c"))


def unmarshal_code(importer, path, file, name, data):
    code = unmarshal(importer, path, file, name, data)
    if code is not None:
        name_file(code, file)
    return code


zipimport._unmarshal_code = unmarshal_code
for module in list(sys.modules.values()):  # the modules that Python has imported during startup
    _, _, file = (getattr(module, "__file__", "") or "").partition(".zip/")
    for holder in (module, *(value for value in vars(module).values() if isinstance(value, type))) if file else ():
        for value in vars(holder).values():
            if hasattr(value, "__code__") and value.__code__.co_filename[0] != "<":
                name_file(value.__code__, file)

import json  # noqa: E402

parts = [read(0, 1 << 16)]
while len(parts[-1]) == 1 << 16:
    parts.append(read(0, 1 << 16))
texts = json.loads(b"".join(parts))
importing = {"__name__": "importing"}
exec(compile(texts["_toolrun/importing.py"], "<toolrun>/importing.py", "exec"), importing)
# The modules of this package get separate builtins, which a tool cannot change.
sys.meta_path.insert(0, importing["Texts"](texts, "<toolrun>/", dict(vars(builtins))))

from _toolrun.prepare import prepare  # noqa: E402
from _toolrun.serving import serve  # noqa: E402
from time import time  # noqa: E402

prepare()
# The host captures its snapshot during this call, because Python keeps the interpreter lock while it runs.
time()
while serve():
    pass
