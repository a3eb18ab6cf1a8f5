"""match: sequences, mappings, classes, alternatives, guards, captures."""

from collections import namedtuple
from dataclasses import dataclass

Point = namedtuple("Point", "x y")


@dataclass
class Box:
    left: Point
    width: int


ORIGIN = 0


class Names:
    RED = "red"


def name(value):
    match value:
        case None | False:
            return "nothing"
        case True:
            return "yes"
        case int(n) if n < 0:
            return f"negative {n}"
        case int() | float() as n:
            return f"number {n}"
        case "go" | "run" as verb:
            return f"verb {verb}"
        case Names.RED:
            return "a constant"
        case str():
            return "text"
        case Point(x=0, y=y):
            return f"on the axis at {y}"
        case Box(Point(x, _), width=w) if w > 10:
            return f"wide box at {x}"
        case Box():
            return "box"
        case [] | {}:
            return "empty list or any dict" if not value else f"dict of {len(value)}"
        case [x]:
            return f"one {x}"
        case ["move", (dx, dy), *rest]:
            return f"move {dx},{dy} and {rest}"
        case [first, *_, last]:
            return f"{first} to {last}"
        case _:
            return type(value).__name__


def command(message):
    match message:
        case {"do": "add", "items": [*items], **rest}:
            return ["add", items, rest]
        case {"do": str(verb), "at": {"x": x, "y": y}}:
            return [verb, x, y]
        case {"do": _}:
            return "incomplete"
    return "unknown"


values = [
    None,
    True,
    -3,
    2.5,
    "go",
    "red",
    "x",
    Point(0, 7),
    Point(1, 2),
    Box(Point(1, 2), 20),
    Box(Point(1, 2), 5),
    [],
    {},
    {"a": 1},
    (1,),
    ["move", [1, 2], 3, 4],
    range(5),
    b"xy",
    {1},
]
messages = [{"do": "add", "items": [1, 2], "id": 7}, {"do": "go", "at": {"x": 1, "y": 2, "z": 3}}, {"do": 5}, {}]
return [[name(value) for value in values], [command(message) for message in messages]]
