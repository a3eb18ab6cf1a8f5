"""The log: records of ``logging`` and ``warnings``. The host reads printed text from standard output and error."""

import logging
import sys
import warnings

from .channel import send
from .values import quote


_MAX_LENGTH = 1 << 13  # the host also truncates longer lines


def _level(number):
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warn"
    return "info" if number >= logging.INFO else "debug"


def _log(level, text):
    # Replace half of a surrogate pair. Otherwise, the whole line would be lost.
    send("log", level, quote(text[:_MAX_LENGTH].encode(errors="replace").decode()))


def warn(text):
    """Log a warning for the author of the tool."""
    _log("warn", text)


class _Handler(logging.Handler):
    """A handler that sends records to the host, which adds the time."""

    def emit(self, record):
        _log(_level(record.levelno), self.format(record))


def _show_warning(message, category, filename, lineno, file=None, line=None):
    location = "" if filename.startswith(("<", "/", "sys")) else f"{filename}:{lineno}: "
    _log("warn", f"{location}{category.__name__}: {message}")


def install():
    """Send the log of a tool to the host."""
    logging.raiseExceptions = False
    root = logging.getLogger()
    root.addHandler(_Handler())
    root.setLevel(logging.DEBUG)
    warnings.showwarning = _show_warning


def flush():
    """Flush printed text that does not end with a line feed. A tool may have closed or replaced the streams."""
    for stream in (sys.__stdout__, sys.__stderr__, sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
