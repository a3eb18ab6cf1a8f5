"""What a tool failed with, told in the author's own files and lines."""

import builtins
import errno

from .absent import FILES, Stuck
from .operations import number_of

_MOST_FRAMES = 20
_MOST_TEXT, _SHORT_TEXT = 4096, 200
_MOST_CAUSES = 5
_MOST_INNER = 1000

# Before 3.11, in which tests may run, there are no groups.
_GROUP = getattr(builtins, "BaseExceptionGroup", ())

# What Python says of an await of a plain value, and what it says of it since 3.14.
_AWAITED = ("can't be used in 'await' expression", "can't be awaited")

# What a system says that has no such file.
_OF_FILES = {errno.ENOENT, errno.EACCES, errno.EBADF, errno.ENOTDIR, errno.EISDIR, errno.EROFS, errno.EPERM, errno.ENOSYS}
_OF_FILES.add(getattr(errno, "ENOTCAPABLE", errno.EPERM))  # of WASI alone


def describe(error, texts, place):
    """Say what an uncaught exception is: ``texts`` are the author's files, by the names that tracebacks give them, and
    ``place`` is where the entry is defined, if there is one."""
    first, _ = _first_of(error)
    frames = _frames(first, texts) or _frames(error, texts)
    told = {"message": message_of(error, texts), "kind": _kind(error), "fault": number_of(error), "hint": hint_of(error)}
    if isinstance(error, SyntaxError) and error.filename in texts:
        told.update(file=error.filename, line=error.lineno or 0, column=max(error.offset or 0, 1))
    elif frames:
        _, told["file"], told["line"], told["column"] = frames[-1]
    elif isinstance(error, TypeError) and place and place[0] in texts:  # it could not even be called
        told.update(file=place[0], line=place[1], column=1)
    told["stack"] = _stack(error, first, texts)
    return told


def _kind(error):
    if type(error) is RecursionError:
        return "recursion"
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, SyntaxError):
        return "syntax"
    return "error"


def message_of(error, texts):
    """The type and the text of an exception, of a group those of the first in it, too."""
    first, others = _first_of(error)
    if first is error:
        return _message(error)
    frames = _frames(first, texts)
    place = f" ({frames[-1][1]}:{frames[-1][2]})" if frames else ""
    more = f", and {others} more" if others else ""
    return f"{_message(error, _SHORT_TEXT)}: {_message(first, _SHORT_TEXT)}{place}{more}"


def _message(error, most=_MOST_TEXT):
    """The type and the text of one exception. The text is the tool's own code, which may fail too."""
    name = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{name}: {error.msg}"
    try:
        text = str(error)
    except BaseException:
        return f"{name}, whose text cannot be told"
    if isinstance(error, Stuck):
        return text
    if isinstance(error, SystemExit):
        return text if isinstance(error.code, str) else f"the tool exited with code {error.code or 0}"
    if len(text) > most:
        text = text[:most] + "…"
    return f"{name}: {text}" if text else name


def hint_of(error):
    """What to do about an exception whose own text does not help in a tool, or ""."""
    error, _ = _first_of(error)
    try:
        if type(error) is TypeError and str(error).endswith(_AWAITED):
            return "memory calls take no await in Python: they answer at once"
        if isinstance(error, OSError) and error.errno in _OF_FILES and FILES not in str(error):
            return FILES
        if type(error) is KeyError and _raised_by(error) == "_Environ.__getitem__":
            return "os.environ has only the variables that env sets, in the manifest or for a run"
    except BaseException:
        pass  # of the tool's own class
    return ""


def _raised_by(error):
    """The function that raised an exception, by its qualified name."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return getattr(traceback and traceback.tb_frame.f_code, "co_qualname", "")  # before 3.11 code has none


def _first_of(error):
    """The first exception in a group that is none itself, and how many others there are; the exception and 0 where it
    is no group."""
    first, count, pending = None, 0, [error]
    while pending and count < _MOST_INNER:
        inner = pending.pop()
        if issubclass(type(inner), _GROUP):
            pending.extend(reversed(_GROUP.exceptions.__get__(inner) or ()))
            continue
        first, count = inner if first is None else first, count + 1
    return (error, 0) if first is None else (first, count - 1)


def _stack(error, first, texts):
    """The author's part of the calls that led to an exception, in a group those of the first in it, then of what it was
    raised from."""
    parts = [_calls(_frames(first, texts))]
    if first is not error:
        parts += [f"in {_message(error, _SHORT_TEXT)}", _calls(_frames(error, texts))]
    seen = [error, first]
    for _ in range(_MOST_CAUSES):
        cause, how = _cause(seen[-1])
        if cause is None or any(cause is known for known in seen):
            break
        parts += [f"{how} {_message(cause, _SHORT_TEXT)}", _calls(_frames(cause, texts))]
        seen.append(cause)
    return "\n".join(part for part in parts if part)


def _cause(error):
    """What an exception was raised from, and how, past what its class may say of that."""
    cause = BaseException.__cause__.__get__(error)
    if cause is not None:
        return cause, "caused by"
    if BaseException.__suppress_context__.__get__(error):
        return None, ""
    return BaseException.__context__.__get__(error), "while handling"


def _calls(frames):
    return "\n".join(f"    at {name} ({file}:{line}:{column})" for name, file, line, column in reversed(frames))


def _frames(error, texts):
    """The author's part of an exception's traceback, the innermost frame last."""
    traceback, frames = error.__traceback__, []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in texts:
            column = _column(code, traceback.tb_lasti, traceback.tb_lineno, texts)
            frames.append((code.co_qualname, code.co_filename, traceback.tb_lineno, column))
            if len(frames) > 2 * _MOST_FRAMES:
                del frames[_MOST_FRAMES // 2]  # of a deep recursion, the beginning and the end
        traceback = traceback.tb_next
    return frames[-_MOST_FRAMES:]


def _column(code, instruction, line, texts):
    """The column of an instruction, in characters from 1."""
    for index, (start, _, column, _) in enumerate(code.co_positions()):
        if index == instruction // 2:
            break
    else:
        return 1
    if start != line or column is None:
        return 1
    lines = texts[code.co_filename].encode().split(b"\n")
    return len(lines[line - 1][:column].decode(errors="replace")) + 1 if line <= len(lines) else 1
