"""operator: functions for signs, getters, in-place changes, comparisons of all kinds."""

import operator as op
from functools import cmp_to_key, reduce


class Money:
    def __init__(self, cents):
        self.cents = cents
        self.log = []

    def __iadd__(self, other):
        self.log.append(other)
        self.cents += other
        return self

    def __index__(self):
        return self.cents

    def add(self, a, b=0):
        return self.cents + a + b


money = op.iadd(Money(5), 7)
rows = [{"n": 3, "p": {"q": "x"}}, {"n": 1, "p": {"q": "y"}}]
versions = ["1.10", "1.9", "1.2.3"]


def compare(a, b):
    a, b = ([int(part) for part in text.split(".")] for text in (a, b))
    return (a > b) - (a < b)


return {
    "tables": {
        sign: [function(a, 2) for a in (7, -7)]
        for sign, function in [
            ("//", op.floordiv),
            ("%", op.mod),
            ("**", op.pow),
            ("<<", op.lshift),
            ("^", op.xor),
            ("/", op.truediv),
        ]
    },
    "getters": [
        sorted(rows, key=op.itemgetter("n"))[0]["n"],
        op.itemgetter(0, -1)("abc"),
        op.attrgetter("cents", "log")(money),
        op.methodcaller("add", 1, b=2)(money),
    ],
    "changed": [money.cents, op.index(money), [10, 20][Money(1)], hex(money)],
    "folds": [
        reduce(op.mul, range(1, 8)),
        op.countOf("banana", "a"),
        op.indexOf("banana", "n"),
        op.length_hint(iter([1, 2])),
    ],
    "truth": [op.truth([]), op.not_(0), op.is_(None, None), op.contains("abc", "b"), op.concat("a", "b")],
    "sorted": sorted(versions, key=cmp_to_key(compare)),
    "matrix": op.inv(5),
}
