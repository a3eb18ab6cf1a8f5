"""Permutations as objects: products, cycles, orders, and the size of the group that they generate."""

from functools import reduce
from math import lcm


class Permutation(tuple):
    def __mul__(self, other):
        return Permutation(self[i] for i in other)

    def __invert__(self):
        back = [0] * len(self)
        for i, j in enumerate(self):
            back[j] = i
        return Permutation(back)

    @property
    def cycles(self):
        left, found = set(range(len(self))), []
        while left:
            cycle = [min(left)]
            while (following := self[cycle[-1]]) != cycle[0]:
                cycle.append(following)
            left -= set(cycle)
            if len(cycle) > 1:
                found.append(tuple(cycle))
        return found

    @property
    def order(self):
        return reduce(lcm, map(len, self.cycles), 1)


def group(*generators):
    seen = todo = {Permutation(range(len(generators[0])))}
    while todo:
        todo = {a * g for a in todo for g in generators} - seen
        seen = seen | todo
    return seen


turn, flip = Permutation([1, 2, 3, 4, 0]), Permutation([0, 4, 3, 2, 1])
swap = Permutation([1, 0, 2, 3, 4])
return [
    len(group(turn, flip)),
    len(group(turn, swap)),
    (turn * swap).cycles,
    (turn * swap).order,
    ~turn * turn == Permutation(range(5)),
    sorted({p.order for p in group(turn, swap)}),
]
