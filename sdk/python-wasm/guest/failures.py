"""What a tool failed with, told in the author's own files and lines."""

from .loop import Stuck
from .operations import number_of

_MOST_FRAMES = 20
_MOST_TEXT = 4096


def describe(error, texts):
    """Say what an uncaught exception is: ``texts`` are the author's files, by the names that tracebacks give them."""
    frames = _frames(error.__traceback__, texts)
    told = {"message": _message(error), "kind": _kind(error), "fault": number_of(error)}
    if isinstance(error, SyntaxError) and error.filename in texts:
        told.update(file=error.filename, line=error.lineno or 0, column=max(error.offset or 0, 1))
    elif frames:
        _, told["file"], told["line"], told["column"] = frames[-1]
    told["stack"] = "\n".join(f"    at {name} ({file}:{line}:{column})" for name, file, line, column in reversed(frames))
    return told


def _kind(error):
    if type(error) is RecursionError:
        return "recursion"
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, SyntaxError):
        return "syntax"
    return "error"


def _message(error):
    """The type and the text of an exception. The text is the tool's own code, which may fail too."""
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
    if len(text) > _MOST_TEXT:
        text = text[:_MOST_TEXT] + "…"
    return f"{name}: {text}" if text else name


def _frames(traceback, texts):
    """The author's part of a traceback, the innermost frame last."""
    frames = []
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
