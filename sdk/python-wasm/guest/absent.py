"""What a tool does not have: each says so itself, for an error number of WASI tells an author nothing."""

import _thread
import builtins
import concurrent.futures
import http.client
import io
import socket
import subprocess
import sys
import threading
import time
import zoneinfo
from errno import ENOTSUP

THREADS = "there are no threads in a tool; what waits can wait in asyncio"
NETWORK = "there is no network in a tool"
FILES = "there are no files in a tool; memory is where it keeps things"
_PROCESSES = "there are no processes in a tool"
_NOBODY = "has nobody to ask: what a tool gets is in the dict input"

# Why a module of the standard library is not there, where there is more to say than that.
_REASONS = {"multiprocessing": _PROCESSES, "mmap": FILES, "ssl": NETWORK, "webbrowser": NETWORK}


def why_missing(module):
    """Why a module of the standard library is not there, in words."""
    return _REASONS.get(module, "this part of the standard library is not there in a tool")


class Stuck(RuntimeError):
    """Everything waits, and nothing will ever come: there is nobody else."""


def _without(error, *arguments):
    """A function that raises an error, whatever it is called with."""

    def refuse(*args, **kwargs):
        raise error(*arguments)

    return refuse


def _wrap_open(open):
    """Files of Python itself can be read; any other attempt ends in words."""

    def wrapper(file, *args, **kwargs):
        try:
            return open(file, *args, **kwargs)
        except OSError as error:
            reason = error
        # Its class stays, for a tool may well handle a file that is not there.
        raise OSError(reason.errno, f"{reason.strerror}: {FILES}", reason.filename) from None

    wrapper.__name__ = wrapper.__qualname__ = "open"
    wrapper.__doc__ = open.__doc__
    return wrapper


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


# UTC as a file of a time zone (RFC 8536): no changes, one kind of local time.
_UTC = b"TZif" + bytes(35) + b"\1" + bytes(3) + b"\4" + bytes(6) + b"UTC\0"


def _load_zone(key):
    """What zoneinfo reads a zone from, for there is no database of them."""
    if key in ("UTC", "Etc/UTC"):
        return io.BytesIO(_UTC)
    raise zoneinfo.ZoneInfoNotFoundError(
        f"No time zone found with key {key}: a tool has UTC alone; datetime.timezone makes one of a fixed offset"
    )


def install():
    """Put words in the places of what is not there."""
    builtins.input = _without(RuntimeError, f"input() {_NOBODY}")
    sys.stdin = sys.__stdin__ = _NoInput()  # the file itself is the channel
    sys.breakpointhook = _without(RuntimeError, f"breakpoint() {_NOBODY}")
    builtins.open = io.open = _wrap_open(io.open)
    builtins.exit = builtins.quit = sys.exit

    zoneinfo._common.load_tzdata = _load_zone
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
