"""Sorting: stable, by several keys, natural order; five algorithms of our own agree."""

import random
import re
from collections import deque


def natural(text):
    return [int(part) if part.isdigit() else part.casefold() for part in re.split(r"(\d+)", text)]


def quick(values):
    if len(values) < 2:
        return values
    pivot = values[len(values) // 2]
    return (
        quick([v for v in values if v < pivot])
        + [v for v in values if v == pivot]
        + quick([v for v in values if v > pivot])
    )


def merge(values):
    queue = deque([v] for v in values)
    while len(queue) > 1:
        a, b, out = queue.popleft(), queue.popleft(), []
        while a and b:
            out.append((a if a[-1] >= b[-1] else b).pop())
        queue.append(sorted(a + b) + out[::-1] if a or b else out[::-1])
    return queue[0] if queue else []


def shell(values):
    values, gap = values[:], len(values) // 2
    while gap:
        for i in range(gap, len(values)):
            j, value = i, values[i]
            while j >= gap and values[j - gap] > value:
                values[j], j = values[j - gap], j - gap
            values[j] = value
        gap //= 2
    return values


def radix(values):
    for shift in range(0, 16, 4):
        buckets = [[] for _ in range(16)]
        for value in values:
            buckets[value >> shift & 15].append(value)
        values = [value for bucket in buckets for value in bucket]
    return values


def heap(values):
    import heapq

    values = values[:]
    heapq.heapify(values)
    return [heapq.heappop(values) for _ in range(len(values))]


def main():
    values = [random.Random(1).randrange(1 << 16) for _ in range(3)] + random.Random(2).sample(range(1 << 16), 200)
    people = [("Bob", 30), ("ann", 25), ("Zoe", 30), ("bob", 25)]
    try:
        sorted([1, "a"])
    except TypeError as error:
        mixed = str(error)
    return {
        "natural": sorted(["file10", "File9", "file1a", "file1"], key=natural),
        "keys": sorted(people, key=lambda p: (-p[1], p[0].casefold())),
        "stable": sorted(people, key=lambda p: p[1], reverse=True),
        "agree": [sort.__name__ for sort in (quick, merge, shell, radix, heap) if sort(values) == sorted(values)],
        "mixed": mixed,
        "extremes": [max("bca", "ab", key=len), min([], default=0), max([(1, "a"), (1, "b")])],
    }
