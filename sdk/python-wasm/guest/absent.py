"""What a tool does not have: each says so itself, for an error number of WASI tells an author nothing."""

import _thread
import builtins
import concurrent.futures
import http.client
import io
import os
import socket
import subprocess
import sys
import threading
import time
from errno import ENOTSUP, EROFS

THREADS = "there are no threads in a tool; what waits can wait in asyncio"
NETWORK = "there is no network in a tool"
FILES = "there are no files in a tool; memory is where it keeps things"
_PROCESSES = "there are no processes in a tool"
_NOBODY = "has nobody to ask: what a tool gets is in the dict input"

# Why a module of the standard library is not there, where there is more to say than that.
_REASONS = {"multiprocessing": _PROCESSES, "mmap": FILES, "ssl": NETWORK, "webbrowser": NETWORK}


# Packages that many tools elsewhere import, and what of the standard library does some of their work.
_COMPILED = {
    "cryptography": "hashlib, hmac and secrets",
    "lxml": "xml.etree.ElementTree",
    "numpy": "math, statistics and array",
    "orjson": "json",
    "pandas": "csv, statistics and sqlite3",
    "polars": "csv, statistics and sqlite3",
    "pydantic": "dataclasses",
    "pydantic_core": "dataclasses",
    "scipy": "math and statistics",
    "ujson": "json",
}
_COMPILED.update(dict.fromkeys(
    "cv2 cython grpc jax keras matplotlib numba PIL pyarrow sklearn spacy tensorflow torch transformers uvloop".split(), ""
))
_OF_NETWORK = frozenset(
    "aiohttp anthropic boto3 botocore httpx openai paramiko psycopg psycopg2 pymongo pymysql redis requests urllib3 "
    "websocket websockets".split()
)


def why_missing(module):
    """Why a module of the standard library, or a package that many expect, is not there, in words; "" for others."""
    if module in sys.stdlib_module_names:
        return _REASONS.get(module, "this part of the standard library is not there in a tool")
    if module in _OF_NETWORK:
        return f"{NETWORK}, and no package for it"
    if module in _COMPILED:
        instead = _COMPILED[module]
        return "a tool cannot load packages with compiled parts" + (f"; {instead} can do some of it" if instead else "")
    return ""


class Stuck(RuntimeError):
    """Everything waits, and nothing will ever come: there is nobody else."""


def _without(error, *arguments):
    """A function that raises an error, whatever it is called with."""

    def refuse(*args, **kwargs):
        raise error(*arguments)

    return refuse


def _refuse_writing(file):
    """The files of Python itself can only be read. Its file system would let them be opened, and lose what is written."""
    if not isinstance(file, int) and os.path.exists(file):
        raise OSError(EROFS, f"{os.strerror(EROFS)}: {FILES}")


_WRITES = frozenset("wax+")


def _wrap_open(open):
    """Files of Python itself can be read; any other attempt ends in words."""

    def wrapper(file, mode="r", *args, **kwargs):
        if isinstance(mode, str) and not _WRITES.isdisjoint(mode):
            _refuse_writing(file)
        try:
            return open(file, mode, *args, **kwargs)
        except OSError as error:
            reason = error
        # Its class stays, for a tool may well handle a file that is not there.
        raise OSError(reason.errno, f"{reason.strerror}: {FILES}", reason.filename) from None

    wrapper.__name__ = wrapper.__qualname__ = "open"
    wrapper.__doc__ = open.__doc__
    return wrapper


def _wrap_os_open(open):
    """The same for the function of ``os``, whose errors failures.py explains."""

    def wrapper(path, flags, mode=0o777, *, dir_fd=None):
        if flags & (os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND):  # O_RDWR includes the first
            _refuse_writing(path)
        return open(path, flags, mode, dir_fd=dir_fd)

    wrapper.__name__ = wrapper.__qualname__ = "open"
    wrapper.__doc__ = open.__doc__
    return wrapper


# What other systems have in ``os`` to start processes and to deal with them.
_OF_PROCESSES = frozenset(
    "abort execl execle execlp execlpe execv execve execvp execvpe fork forkpty getppid kill killpg nice posix_spawn "
    "posix_spawnp spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe system wait wait3 wait4 waitpid".split()
)


def _not_in_os(name):
    """What answers for a name that ``os`` does not have. It stays an AttributeError: programs ask for such names."""
    why = f": {_PROCESSES}" if name in _OF_PROCESSES else ""
    raise AttributeError(f"module 'os' has no attribute {name!r}{why}", name=name, obj=os)


class _NoInput:
    """Stands where a program has its standard input."""

    encoding, closed, name = "utf-8", False, "<stdin>"
    read = readline = readlines = fileno = __iter__ = __next__ = _without(RuntimeError, f"sys.stdin {_NOBODY}")

    def isatty(self):
        return False

    def close(self):
        pass


class _Encrypted(http.client.HTTPConnection):
    """What http.client has for https where there is the module ssl: connecting ends in the same words."""

    default_port = 443

    def __init__(self, host, port=None, *, context=None, **kwargs):
        super().__init__(host, port, **kwargs)


def install():
    """Put words in the places of what is not there."""
    builtins.input = _without(RuntimeError, f"input() {_NOBODY}")
    sys.stdin = sys.__stdin__ = _NoInput()  # the file itself is the channel
    sys.breakpointhook = _without(RuntimeError, f"breakpoint() {_NOBODY}")
    builtins.open = io.open = _wrap_open(io.open)
    os.open, os.__getattr__ = _wrap_os_open(os.open), _not_in_os
    builtins.exit = builtins.quit = sys.exit

    # Nobody tells the processor time. CPython would take WASI's nanoseconds for hundredths of a second.
    time.process_time, time.process_time_ns = time.perf_counter, time.perf_counter_ns

    no_threads = _without(RuntimeError, THREADS)
    _thread.start_new_thread = _thread.start_new = threading._start_new_thread = no_threads
    concurrent.futures.ThreadPoolExecutor = concurrent.futures.ProcessPoolExecutor = no_threads

    subprocess.Popen.__init__ = _without(OSError, ENOTSUP, _PROCESSES)
    no_network = _without(OSError, ENOTSUP, NETWORK)
    socket.socket.__init__ = no_network
    for name in ("create_connection", "getaddrinfo", "gethostbyname", "gethostname", "socketpair"):
        setattr(socket, name, no_network)
    http.client.HTTPSConnection, http.client._create_https_context = _Encrypted, lambda version: None
