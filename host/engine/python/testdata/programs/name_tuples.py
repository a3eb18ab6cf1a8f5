"""Named tuples and the unpacking of everything."""

from collections import namedtuple
from typing import NamedTuple


class Employee(NamedTuple):
    """Somebody."""

    name: str
    team: str = "none"
    salary: float = 0.0

    @property
    def first(self):
        return self.name.split()[0]


Pair = namedtuple("Pair", "class value def", rename=True, defaults=[9])


def spread(a, *middle, key=None, **rest):
    return [a, list(middle), key, rest]


def main():
    ann = Employee("Ann Lee", salary=10.5)
    first, *_, last = range(10)
    (a, (b, *c)), d = [1, "xyz"], {"k": 1}
    one, two = two, one = 1, 2
    return {
        "ann": [ann.first, ann._asdict(), ann._replace(team="x"), Employee._field_defaults],
        "pair": [Pair._fields, Pair(1, 2), repr(Pair._make("abc"))],
        "unpacked": [first, last, a, b, c, list(d), one, two],
        "merged": [[*range(3), *"ab"], {**{"x": 1}, "x": 2, **{"y": 3}}, sorted({*[1, 2], *[2, 3]})],
        "called": spread(*[1, 2], 3, *"z", **{"key": 4, "other": 5}),
        "order": sorted([Employee("b", "x"), Employee("a", "z"), Employee("a", "y")])[0].team,
        "walrus": [y for x in range(6) if (y := x * x) > 5],
        "chain": [1 < 2 < 3 != 4, 1 < 3 > 2, not 1 < 2 > 2],
        "slices": ["abcdefgh"[slice(*s)] for s in [(2, None), (None, None, -2), (-3, -1), (5, 1, -1)]],
    }
