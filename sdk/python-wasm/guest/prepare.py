"""Makes the interpreter what every tool starts from, before any tool is there."""

import sys
import types
from importlib import import_module

from . import absent, logs, loop, mended, serving, variables, zones
from .channel import send
from .tool import freeze, missing

# What is imported beside what this package needs itself, so that no tool has to wait for it.
_READY = """
    ast bisect concurrent.futures contextlib difflib fractions gzip heapq hmac html http.client inspect io ipaddress numbers
    pickle pprint queue shlex struct traceback unicodedata urllib.parse weakref zlib zoneinfo
"""

# By this number the host finds where the interpreter counts how deep calls are nested. It is the limit until a tool is
# loaded.
_MARK = 1_593_241_087

# So much memory is there before a tool asks for any: a run that stays within it leaves the memory as large as it was.
_HEADROOM = 8 << 20


def prepare():
    """Prepare, and tell the host where what it calls is: the function, its arguments, the type of the function. The fourth
    number is the recursion limit."""
    for name in _READY.split():
        import_module(name)
    mended.install()
    absent.install()
    logs.install()
    loop.install()
    variables.install()
    zones.install()
    sys.meta_path.append(missing)
    sys.argv = ["tool"]
    bytearray(_HEADROOM)
    freeze()
    sys.setrecursionlimit(_MARK)
    send("ready", str(id(serving.serve)), str(id(())), str(id(types.FunctionType)), str(_MARK))
