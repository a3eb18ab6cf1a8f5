"""Reports of uncaught exceptions, with locations in the author's own files."""

import builtins
import errno

from .unsupported import FILES, Stuck
from .operations import number_of

_MAX_FRAMES = 20
_MAX_TEXT, _SHORT_TEXT = 4096, 200
_MAX_CAUSES = 5
_MAX_INNER = 1000

# Tests can run in a Python version before 3.11, which has no exception groups.
_GROUP = getattr(builtins, "BaseExceptionGroup", ())

# The ends of Python's message for awaiting a plain value, before and since Python 3.14.
_AWAITED = ("can't be used in 'await' expression", "can't be awaited")

# The error numbers of failed file accesses.
_FILE_ERRORS = {errno.ENOENT, errno.EACCES, errno.EBADF, errno.ENOTDIR, errno.EISDIR, errno.EROFS, errno.EPERM, errno.ENOSYS}
_FILE_ERRORS.add(getattr(errno, "ENOTCAPABLE", errno.EPERM))  # only WASI has this error number


def describe(error, texts, location):
    """Return the report of an uncaught exception.

    ``texts`` contains the author's files by their names in tracebacks. ``location`` is the location of the entry, or None.
    """
    first, _ = _first_of(error)
    frames = _frames(first, texts) or _frames(error, texts)
    report = {"message": message_of(error, texts), "kind": _kind(error), "fault": number_of(error), "hint": hint_of(error)}
    if isinstance(error, SyntaxError) and error.filename in texts:
        report.update(file=error.filename, line=error.lineno or 0, column=max(error.offset or 0, 1))
    elif frames:
        _, report["file"], report["line"], report["column"] = frames[-1]
    elif isinstance(error, TypeError) and location and location[0] in texts:  # the call to the entry function failed
        report.update(file=location[0], line=location[1], column=1)
    report["stack"] = _stack(error, first, texts)
    return report


def _kind(error):
    if type(error) is RecursionError:
        return "recursion"
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, SyntaxError):
        return "syntax"
    return "error"


def message_of(error, texts):
    """Return the type and the message of an exception, and for a group also those of its first exception."""
    first, others = _first_of(error)
    if first is error:
        return _message(error)
    frames = _frames(first, texts)
    location = f" ({frames[-1][1]}:{frames[-1][2]})" if frames else ""
    more = f", and {others} more" if others else ""
    return f"{_message(error, _SHORT_TEXT)}: {_message(first, _SHORT_TEXT)}{location}{more}"


def _message(error, limit=_MAX_TEXT):
    """Return the type and the message of one exception. The message can come from code of the tool, which can fail too."""
    name = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{name}: {error.msg}"
    try:
        text = str(error)
    except BaseException:
        return f"{name} (the message cannot be read)"
    if isinstance(error, Stuck):
        return text
    if isinstance(error, SystemExit):
        return text if isinstance(error.code, str) else f"the tool exited with code {error.code or 0}"
    if len(text) > limit:
        text = text[:limit] + "…"
    return f"{name}: {text}" if text else name


def hint_of(error):
    """Return a hint for an exception whose own message does not help in a tool, or ""."""
    error, _ = _first_of(error)
    try:
        if type(error) is TypeError and str(error).endswith(_AWAITED):
            return "do not await memory calls: in Python, memory calls return their result directly"
        if isinstance(error, OSError) and error.errno in _FILE_ERRORS and FILES not in str(error):
            return FILES
        if type(error) is KeyError and _raised_by(error) == "_Environ.__getitem__":
            return "declare the variable under env in the manifest, or set the variable for the run"
    except BaseException:
        pass  # the exception is from a class of the tool
    return ""


def _raised_by(error):
    """Return the qualified name of the function that raised an exception."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return getattr(traceback and traceback.tb_frame.f_code, "co_qualname", "")  # code objects have no co_qualname before 3.11


def _first_of(error):
    """Return the first exception in a group that is not itself a group, and the number of the others.

    For an exception that is not a group, return it and 0.
    """
    first, count, pending = None, 0, [error]
    while pending and count < _MAX_INNER:
        inner = pending.pop()
        if issubclass(type(inner), _GROUP):
            pending.extend(reversed(_GROUP.exceptions.__get__(inner) or ()))
            continue
        first, count = inner if first is None else first, count + 1
    return (error, 0) if first is None else (first, count - 1)


def _stack(error, first, texts):
    """Return the stack trace of an exception, restricted to the author's code.

    For a group it begins with the group's first exception. The causes follow.
    """
    parts = [_calls(_frames(first, texts))]
    if first is not error:
        parts += [f"in {_message(error, _SHORT_TEXT)}", _calls(_frames(error, texts))]
    seen = [error, first]
    for _ in range(_MAX_CAUSES):
        cause, how = _cause(seen[-1])
        if cause is None or any(cause is known for known in seen):
            break
        parts += [f"{how} {_message(cause, _SHORT_TEXT)}", _calls(_frames(cause, texts))]
        seen.append(cause)
    return "\n".join(part for part in parts if part)


def _cause(error):
    """Return the cause of an exception and its kind.

    A class cannot override the attributes that this function reads.
    """
    cause = BaseException.__cause__.__get__(error)
    if cause is not None:
        return cause, "caused by"
    if BaseException.__suppress_context__.__get__(error):
        return None, ""
    return BaseException.__context__.__get__(error), "while handling"


def _calls(frames):
    return "\n".join(f"    at {name} ({file}:{line}:{column})" for name, file, line, column in reversed(frames))


def _frames(error, texts):
    """Return the author's frames of an exception's traceback, the innermost last."""
    traceback, frames = error.__traceback__, []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in texts:
            column = _column(code, traceback.tb_lasti, traceback.tb_lineno, texts)
            frames.append((code.co_qualname, code.co_filename, traceback.tb_lineno, column))
            if len(frames) > 2 * _MAX_FRAMES:
                del frames[_MAX_FRAMES // 2]  # keeps the beginning and the end of a deep recursion
        traceback = traceback.tb_next
    return frames[-_MAX_FRAMES:]


def _column(code, instruction, line, texts):
    """Return the column of an instruction, in characters from 1."""
    for index, (start, _, column, _) in enumerate(code.co_positions()):
        if index == instruction // 2:
            break
    else:
        return 1
    if start != line or column is None:
        return 1
    lines = texts[code.co_filename].encode().split(b"\n")
    return len(lines[line - 1][:column].decode(errors="replace")) + 1 if line <= len(lines) else 1
