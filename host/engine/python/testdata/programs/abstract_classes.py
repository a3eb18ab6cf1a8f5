"""Abstract base classes: instantiation errors, registered classes and subclass hooks."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sized


class Shape(ABC):
    @property
    @abstractmethod
    def area(self):
        ...

    def describe(self):
        return f"{type(self).__name__} of {self.area:.2f}"


class Square(Shape):
    def __init__(self, side):
        self.side = side

    @property
    def area(self):
        return self.side**2


class Closeable(ABC):
    @classmethod
    def __subclasshook__(cls, other):
        return any("close" in vars(base) for base in other.__mro__) or NotImplemented


class Door:
    def close(self):
        ...


class Bag:
    def __len__(self):
        return 0

    def __iter__(self):
        return iter(())


@Shape.register
class Blob:
    ...


def main():
    try:
        Shape()
    except TypeError as error:
        refused = "abstract" in str(error)
    kinds = [issubclass(Door, Closeable), issubclass(Bag, Closeable), isinstance(Blob(), Shape)]
    return [refused, Square(3).describe(), kinds, isinstance(Bag(), Sized), isinstance(Bag(), Iterable)]
