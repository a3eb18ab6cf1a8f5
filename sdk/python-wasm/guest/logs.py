"""The log: what ``logging`` and ``warnings`` say. What is printed the host reads from standard output and error."""

import logging
import sys
import warnings

from .channel import send
from .values import quote


_LONGEST = 1 << 13  # more is cut off by the host too


def _level(number):
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warn"
    return "info" if number >= logging.INFO else "debug"


def _log(level, text):
    # Half of a surrogate pair is no character, but no reason to lose the line either.
    send("log", level, quote(text[:_LONGEST].encode(errors="replace").decode()))


def warn(text):
    """Log what the tool's author should know."""
    _log("warn", text)


class _Handler(logging.Handler):
    """Hands records to the host, which notes the time."""

    def emit(self, record):
        _log(_level(record.levelno), self.format(record))


def _show_warning(message, category, filename, lineno, file=None, line=None):
    place = "" if filename.startswith(("<", "/", "sys")) else f"{filename}:{lineno}: "
    _log("warn", f"{place}{category.__name__}: {message}")


def install():
    """Have the host take what a tool logs."""
    logging.raiseExceptions = False
    root = logging.getLogger()
    root.addHandler(_Handler())
    root.setLevel(logging.DEBUG)
    warnings.showwarning = _show_warning


def flush():
    """Hand over what was printed without a line feed at its end. A tool may have closed the streams, or replaced them."""
    for stream in (sys.__stdout__, sys.__stderr__, sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
