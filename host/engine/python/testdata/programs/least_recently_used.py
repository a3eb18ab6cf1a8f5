"""Caches: lru_cache, an own cache with an order, and a cache per instance."""

from collections import OrderedDict
from functools import cached_property, lru_cache, singledispatch, singledispatchmethod


@lru_cache(maxsize=3)
def slow(n):
    calls.append(n)
    return n * n


calls = []


class Recent(OrderedDict):
    def __init__(self, room):
        super().__init__()
        self.room = room

    def __getitem__(self, key):
        self.move_to_end(key)
        return super().__getitem__(key)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self.room:
            self.popitem(last=False)


@singledispatch
def show(value):
    return f"? {value}"


@show.register
def _(value: int | float):
    return f"number {value}"


@show.register(list)
def _(value):
    return [show(item) for item in value]


class Circle:
    def __init__(self, radius):
        self.radius, self.asked = radius, 0

    @cached_property
    def area(self):
        self.asked += 1
        return self.radius**2 * 3

    @singledispatchmethod
    def grow(self, by):
        raise TypeError

    @grow.register
    def _(self, by: int):
        return Circle(self.radius + by)


def main():
    for n in (1, 2, 3, 1, 4, 2, 1):
        slow(n)
    recent = Recent(2)
    recent["a"], recent["b"] = 1, 2
    recent["a"]
    recent["c"] = 3
    circle = Circle(2).grow(3)
    return [
        calls,
        list(slow.cache_info()),
        list(recent.items()),
        circle.area + circle.area,
        circle.asked,
        show([1, "a", [2.5, None]]),
    ]
