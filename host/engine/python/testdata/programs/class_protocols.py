"""A class that behaves as a container, a number, a callable and a context manager."""

from functools import total_ordering


@total_ordering
class Vector:
    __slots__ = ("parts",)
    __match_args__ = ("parts",)

    def __init__(self, *parts):
        self.parts = parts

    def __repr__(self):
        return f"Vector{self.parts}"

    def __eq__(self, other):
        return isinstance(other, Vector) and self.parts == other.parts

    def __hash__(self):
        return hash(self.parts)

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __abs__(self):
        return sum(part**2 for part in self) ** 0.5

    def __iter__(self):
        return iter(self.parts)

    def __len__(self):
        return len(self.parts)

    def __getitem__(self, place):
        return Vector(*self.parts[place]) if isinstance(place, slice) else self.parts[place]

    def __add__(self, other):
        return Vector(*map(sum, zip(self, other))) if isinstance(other, Vector) else NotImplemented

    def __mul__(self, factor):
        return Vector(*(part * factor for part in self))

    __rmul__ = __mul__

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self, other))

    def __bool__(self):
        return any(self)

    def __format__(self, spec):
        return "<" + ", ".join(format(part, spec) for part in self) + ">"

    def __call__(self, function):
        return Vector(*map(function, self))


def main():
    a, b = Vector(1, 2, 3), Vector(4, 5, 6)
    try:
        a + 1
    except TypeError as error:
        unsupported = str(error)
    try:
        a.colour = "red"
    except AttributeError:
        fixed = True
    return [
        repr(a + b),
        repr(2 * a),
        a @ b,
        a < b,
        sorted([b, a])[0] == a,
        a[1],
        repr(b[1:]),
        bool(Vector(0)),
        len({a, Vector(1, 2, 3)}),
        f"{a:.1f}",
        repr(b(lambda x: x - 4)),
        unsupported,
        fixed,
        2 in a,
        [*reversed(b)],
    ]
