"""Finds where a tool asks for what is another in each run: the time, or random numbers."""

import sys
from _random import Random
from datetime import date

_CLOCKS = frozenset("time time_ns monotonic monotonic_ns perf_counter perf_counter_ns clock_gettime".split())
_DATES = frozenset(("now", "today", "utcnow"))


def watch(run, texts):
    """Call a function, and return from where in the author's files it first asked, as "tool.py:1"; "" where nobody saw."""
    places = []

    def look(frame, event, called):
        if event == "c_call" and not places and _asks(called):
            while frame is not None and frame.f_code.co_filename not in texts:
                frame = frame.f_back
            if frame is not None:
                places.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")

    sys.setprofile(look)
    try:
        run()
    finally:
        if sys.getprofile() is look:
            sys.setprofile(None)
    return places[0] if places else ""


def _asks(called):
    """Whether a function in C asks the host."""
    name, owner = called.__name__, called.__self__
    if isinstance(owner, type):
        return name in _DATES and issubclass(owner, date)
    if isinstance(owner, Random):
        return True
    return called.__module__ == "time" and name in _CLOCKS or called.__module__ == "posix" and name == "urandom"
