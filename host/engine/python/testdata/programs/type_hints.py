"""typing at run time: generics, protocols, typed dicts, overloads, annotations read back."""

from __future__ import annotations

import typing
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NewType,
    Optional,
    Protocol,
    TypedDict,
    TypeVar,
    Union,
    get_args,
    get_origin,
    runtime_checkable,
)

T = TypeVar("T")
UserId = NewType("UserId", int)


@runtime_checkable
class Closes(Protocol):
    def close(self) -> None:
        ...


class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> Stack[T]:
        self.items.append(item)
        return self

    def close(self) -> None:
        ...


class Movie(TypedDict, total=False):
    title: typing.Required[str]
    year: int


def checked(value: Any, kind: Any) -> bool:
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin is Union or str(type(kind)) == "<class 'types.UnionType'>":
        return any(checked(value, arg) for arg in args)
    if origin is Literal:
        return value in args
    if origin in (list, set):
        return isinstance(value, origin) and all(checked(item, args[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(checked(k, args[0]) and checked(v, args[1]) for k, v in value.items())
    if origin is tuple:
        return isinstance(value, tuple) and len(value) == len(args) and all(map(checked, value, args))
    return isinstance(value, kind or type(None))


def area(width: Annotated[float, "metres"], height: Optional[float] = None) -> Literal["big", "small"]:
    ...


def main():
    kinds = [
        (1, int),
        ([1, "a"], list[int | str]),
        ({"a": [1.5]}, dict[str, list[float]]),
        ((1, "x"), tuple[int, str]),
        ("b", Literal["a", "b"]),
        (None, Optional[int]),
        ([None], list[int]),
    ]
    hints = typing.get_type_hints(area, include_extras=True)
    return {
        "checked": [checked(value, kind) for value, kind in kinds],
        "hints": {name: str(hint) for name, hint in hints.items()},
        "raw": area.__annotations__["width"],
        "movie": [Movie(title="x"), sorted(Movie.__required_keys__), sorted(Movie.__optional_keys__)],
        "stack": [
            Stack[int]().push(1).items,
            isinstance(Stack(), Closes),
            isinstance(1, Closes),
            str(Stack[int].__args__),
        ],
        "made": [UserId(5) + 1, UserId.__name__, str(list[int]), str(int | None), str(Optional[str])],
    }
