"""Data classes: defaults, order, frozen ones, slots, inheritance, post-processing."""

from dataclasses import FrozenInstanceError, KW_ONLY, InitVar, asdict, astuple, dataclass, field, fields, make_dataclass
from functools import cached_property
from typing import ClassVar


@dataclass(order=True)
class Version:
    major: int
    minor: int = 0
    label: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text):
        return cls(*map(int, text.split(".")))


@dataclass(frozen=True, slots=True)
class Item:
    name: str
    price: float
    _: KW_ONLY
    count: int = 1


@dataclass
class Order:
    taxes: ClassVar[float] = 0.19
    items: list[Item] = field(default_factory=list)
    discount: InitVar[float] = 0
    total: float = field(init=False)

    def __post_init__(self, discount):
        self.total = round(sum(item.price * item.count for item in self.items) * (1 - discount), 2)

    @cached_property
    def gross(self):
        return round(self.total * (1 + self.taxes), 2)


def main():
    order = Order([Item("pen", 1.5, count=3), Item("ink", 7.25)], 0.1)
    try:
        order.items[0].price = 0
    except FrozenInstanceError as error:
        frozen = str(error)
    versions = sorted(map(Version.parse, ["1.10", "1.9", "0.99", "1.9"]))
    Point = make_dataclass("Point", ["x", ("y", int, 5)])
    return {
        "order": asdict(order),
        "gross": order.gross,
        "frozen": frozen,
        "versions": [astuple(version) for version in versions],
        "equal": Version(1, 2, "a") == Version(1, 2, "b"),
        "repr": [repr(Version(1)), repr(Point(1)), repr(order.items[1])],
        "fields": [f.name for f in fields(order)],
        "hash": len({Item("a", 1), Item("a", 1), Item("a", 2)}),
    }
