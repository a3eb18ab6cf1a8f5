"""Preparation of the interpreter that every tool starts from."""

import sys
import types
from importlib import import_module

from . import environ, logs, loop, serving, stdlib_fixes, unsupported, zones
from .channel import send
from .tool import freeze, missing

# Modules that are imported in advance, in addition to the modules that this package needs, so tools
# do not wait for their import.
_PRELOADED = """
    ast bisect concurrent.futures contextlib difflib fractions gzip heapq hmac html http.client inspect io ipaddress numbers
    pickle pprint queue shlex struct traceback unicodedata urllib.parse weakref zlib zoneinfo
"""

# A value by which the host finds the interpreter's counters of nested calls in RAM. Until a tool is
# loaded, this value is the recursion limit.
_MARK = 1_593_241_087

# The number of bytes that are allocated and freed in advance. If a run needs at most this memory,
# it does not need to grow the memory.
_HEADROOM = 8 << 20


def prepare():
    """Prepare the interpreter, and announce what the host needs for calls.

    These are the addresses of the function, of its arguments and of the type of functions, and the recursion limit.
    """
    for name in _PRELOADED.split():
        import_module(name)
    stdlib_fixes.install()
    unsupported.install()
    logs.install()
    loop.install()
    environ.install()
    zones.install()
    sys.meta_path.append(missing)
    sys.argv = ["tool"]
    bytearray(_HEADROOM)
    freeze()
    sys.setrecursionlimit(_MARK)
    send("ready", str(id(serving.serve)), str(id(())), str(id(types.FunctionType)), str(_MARK))
