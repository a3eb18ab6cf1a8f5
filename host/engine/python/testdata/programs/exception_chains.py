"""Exceptions: causes, contexts, notes, finally, tracebacks as text."""

import traceback


def low():
    return {}["key"]


def high():
    try:
        low()
    except KeyError as error:
        error.add_note("looked in an empty dict")
        raise ValueError("no value") from error


def order():
    steps = []
    try:
        try:
            steps.append("try")
            raise RuntimeError
        except TypeError:
            steps.append("wrong")
        else:
            steps.append("else")
        finally:
            steps.append("finally")
    except RuntimeError:
        steps.append("outer")
    return steps


def override():
    for _ in range(2):
        try:
            return "try"
        finally:
            break
    return "after"


def main():
    try:
        high()
    except ValueError as error:
        caught = error
    lines = traceback.format_exception_only(caught.__cause__)
    names = [frame.name for frame in traceback.extract_tb(caught.__traceback__)]
    try:
        try:
            raise KeyError("first")
        except KeyError:
            raise IndexError("second") from None
    except IndexError as error:
        hidden = [error.__suppress_context__, repr(error.__context__)]
    try:
        raise caught.with_traceback(None)
    except ValueError as error:
        depth = len(traceback.extract_tb(error.__traceback__))
    return [
        repr(caught.__cause__),
        lines,
        names[-1],
        hidden,
        order(),
        override(),
        depth,
        isinstance(caught, (TypeError, ValueError)),
    ]
