"""Search for the line at which a tool uses a value that differs between runs: the time or random numbers."""

import sys
from _random import Random
from datetime import date

_CLOCKS = frozenset("time time_ns monotonic monotonic_ns perf_counter perf_counter_ns clock_gettime".split())
_DATES = frozenset(("now", "today", "utcnow"))


def watch(run, texts):
    """Call a function and return the location ("tool.py:1") at which the author's files first use such a value, or ""."""
    locations = []

    def look(frame, event, called):
        if event == "c_call" and not locations and _varies(called):
            while frame is not None and frame.f_code.co_filename not in texts:
                frame = frame.f_back
            if frame is not None:
                locations.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")

    sys.setprofile(look)
    try:
        run()
    finally:
        if sys.getprofile() is look:
            sys.setprofile(None)
    return locations[0] if locations else ""


def _varies(called):
    """Report whether a C function returns the time or random numbers."""
    name, owner = called.__name__, called.__self__
    if isinstance(owner, type):
        return name in _DATES and issubclass(owner, date)
    if isinstance(owner, Random):
        return True
    return called.__module__ == "time" and name in _CLOCKS or called.__module__ == "posix" and name == "urandom"
