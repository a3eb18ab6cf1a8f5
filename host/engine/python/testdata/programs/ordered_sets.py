"""Sets: algebra, laws, an ordered set of our own, frozen ones as keys."""

from collections.abc import MutableSet


class Ordered(MutableSet):
    def __init__(self, values=()):
        self.items = dict.fromkeys(values)

    def __contains__(self, value):
        return value in self.items

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)

    def add(self, value):
        self.items[value] = None

    def discard(self, value):
        self.items.pop(value, None)


def powerset(values):
    result = [frozenset()]
    for value in values:
        result += [subset | {value} for subset in result]
    return result


a, b = set("abracadabra"), set("alacazam")
ordered = Ordered("hello") | Ordered("world")
ordered -= {"l"}
try:
    {[]}
except TypeError as error:
    unhashable = str(error)
names = {frozenset("ab"): 1, frozenset("ba"): 2}
a2 = set(a)
a2 ^= b
return {
    "algebra": [sorted(x) for x in (a - b, a & b, a ^ b, a2, b - a)],
    "laws": [a | b >= a, a < a, a <= a, a.isdisjoint("xyz"), {1, 2} == {2, 1}, {1} == frozenset({1})],
    "ordered": ["".join(ordered), ordered == set("heowrd"), ordered <= set("heowrdxyz")],
    "powerset": sorted("".join(sorted(s)) for s in powerset("abc")),
    "unhashable": unhashable,
    "names": len(names),
    "comprehension": sorted({n % 7 for n in range(100) if n % 3}),
}
