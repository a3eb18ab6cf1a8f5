"""Functions and modules that a tool cannot use. Each raises an error that names the reason.

An error number of WASI would not help the author of a tool.
"""

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

THREADS = "tools have no threads; use asyncio for concurrent waits"
NETWORK = "tools have no network"
FILES = "tools have no files; keep data in a store"
_PROCESSES = "tools cannot start processes"
NO_STDIN = "is not available; read the tool's input from the dict input"

# The specific reasons why some modules of the standard library are missing.
_REASONS = {"multiprocessing": _PROCESSES, "mmap": FILES, "ssl": NETWORK, "webbrowser": NETWORK}


# Popular packages with native code, and modules of the standard library with some of their
# features.
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
_NETWORK_PACKAGES = frozenset(
    "aiohttp anthropic boto3 botocore httpx openai paramiko psycopg psycopg2 pymongo pymysql redis requests urllib3 "
    "websocket websockets".split()
)


def why_missing(module):
    """Return why a module of the standard library or a popular package is missing, or "" for other modules."""
    if module in sys.stdlib_module_names:
        return _REASONS.get(module, "this part of the standard library is not available in tools")
    if module in _NETWORK_PACKAGES:
        return f"{NETWORK}, and packages for network access do not work"
    if module in _COMPILED:
        instead = _COMPILED[module]
        return "tools cannot load packages with compiled code" + (f"; {instead} can replace parts of it" if instead else "")
    return ""


class Stuck(RuntimeError):
    """The error of a tool that waits forever, because no event can wake any of its tasks."""


def _without(error, *arguments):
    """Return a function that raises an error for any arguments."""

    def refuse(*args, **kwargs):
        raise error(*arguments)

    return refuse


def _refuse_writing(file):
    """Raise an error if the file belongs to Python itself.

    Python's file system would open such a file for writing, and discard what is written.
    """
    if not isinstance(file, int) and os.path.exists(file):
        raise OSError(EROFS, f"{os.strerror(EROFS)}: {FILES}")


_WRITES = frozenset("wax+")


def _wrap_open(open):
    """Wrap open() so that it reads Python's own files, and adds a reason to every error."""

    def wrapper(file, mode="r", *args, **kwargs):
        if isinstance(mode, str) and not _WRITES.isdisjoint(mode):
            _refuse_writing(file)
        try:
            return open(file, mode, *args, **kwargs)
        except OSError as error:
            reason = error
        # The class of the error is unchanged, because a tool could handle FileNotFoundError.
        raise OSError(reason.errno, f"{reason.strerror}: {FILES}", reason.filename) from None

    wrapper.__name__ = wrapper.__qualname__ = "open"
    wrapper.__doc__ = open.__doc__
    return wrapper


def _wrap_os_open(open):
    """Wrap os.open() in the same way, except that failures.py adds the reason."""

    def wrapper(path, flags, mode=0o777, *, dir_fd=None):
        if flags & (os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND):  # O_RDWR contains the bit of the first
            _refuse_writing(path)
        return open(path, flags, mode, dir_fd=dir_fd)

    wrapper.__name__ = wrapper.__qualname__ = "open"
    wrapper.__doc__ = open.__doc__
    return wrapper


# The functions for processes that module ``os`` has on other systems.
_PROCESS_FUNCTIONS = frozenset(
    "abort execl execle execlp execlpe execv execve execvp execvpe fork forkpty getppid kill killpg nice posix_spawn "
    "posix_spawnp spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe system wait wait3 wait4 waitpid".split()
)


def _not_in_os(name):
    """Raise the error for a name that ``os`` does not have.

    The error is an AttributeError, because programs test whether ``os`` has such names.
    """
    why = f": {_PROCESSES}" if name in _PROCESS_FUNCTIONS else ""
    raise AttributeError(f"module 'os' has no attribute {name!r}{why}", name=name, obj=os)


class _NoInput:
    """A replacement for standard input that raises an error when it is read."""

    encoding, closed, name = "utf-8", False, "<stdin>"
    read = readline = readlines = fileno = __iter__ = __next__ = _without(RuntimeError, f"sys.stdin {NO_STDIN}")

    def isatty(self):
        return False

    def close(self):
        pass


class _Encrypted(http.client.HTTPConnection):
    """The HTTPSConnection of http.client, which normally needs the module ssl.

    Connecting raises the same error as without encryption.
    """

    default_port = 443

    def __init__(self, host, port=None, *, context=None, **kwargs):
        super().__init__(host, port, **kwargs)


def install():
    """Replace everything that is not available in a tool."""
    builtins.input = _without(RuntimeError, f"input() {NO_STDIN}")
    sys.stdin = sys.__stdin__ = _NoInput()  # file descriptor 0 is the channel
    sys.breakpointhook = _without(RuntimeError, "breakpoint() is not available in tools")
    builtins.open = io.open = _wrap_open(io.open)
    os.open, os.__getattr__ = _wrap_os_open(os.open), _not_in_os
    builtins.exit = builtins.quit = sys.exit

    # The host does not provide CPU time. In addition, CPython misinterprets WASI's nanoseconds as
    # hundredths of a second.
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
