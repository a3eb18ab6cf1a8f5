"""A module that tests its own examples."""

import doctest
import io
import types

TEXT = """
>>> median([3, 1, 2])
2
>>> median([])
Traceback (most recent call last):
    ...
ValueError: no values
>>> median([1, 2])  # wrong on purpose
7
"""


def median(values):
    if not values:
        raise ValueError("no values")
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def main():
    test = doctest.DocTestParser().get_doctest(TEXT, {"median": median}, "median", None, 0)
    out = io.StringIO()
    results = doctest.DocTestRunner(verbose=False).run(test, out=out.write)
    return [
        results.failed,
        results.attempted,
        out.getvalue().splitlines()[-4:],
        types.ModuleType("m", TEXT).__doc__ == TEXT,
    ]
