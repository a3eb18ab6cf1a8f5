"""New features of Python 3.12: batches, buffers, sums of floats, products, calendars, hashes of slices."""
# Requires Python 3.12.

import calendar
import inspect
import itertools
import math
import statistics
from collections.abc import Buffer


class Bytes:
    def __buffer__(self, flags):
        return memoryview(b"mine")


def counter():
    yield 1


def main():
    return {
        "batches": [list(batch) for batch in itertools.batched("abcdefg", 3)],
        "buffer": [isinstance(b"", Buffer), bytes(Bytes()).decode()],
        "sums": [sum([0.1] * 10), math.sumprod([1, 2.5], [3, 4])],
        "months": [calendar.Month.MAY.name, calendar.Day.SUNDAY],
        "slices": len({slice(1, 2), slice(1, 2)}),
        "median": statistics.correlation([1, 2, 3], [1, 3, 2], method="ranked"),
        "generator": inspect.getgeneratorstate(counter()),
        "comprehension": [[x for x in range(3)], [(y, z) for y in "ab" for z in range(2)]],
    }
