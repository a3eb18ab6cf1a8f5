"""Decoding of JSON values into the classes of models.py."""

from __future__ import annotations

import dataclasses
import re
import typing
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, Callable, TypeVar, Union

T = TypeVar("T")
Decoder = Callable[[Any], Any]

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)?")


def decode(to: type[T], value: Any) -> T:
    """Decode a JSON value as a type. Unknown members are ignored. A missing member without a default is a TypeError."""
    kind: Any = to
    decoded: T = _decoder(kind)(value)
    return decoded


def parse_time(text: str) -> datetime:
    """Parse a time in the format of RFC 3339, to microseconds. A time without a zone is in UTC."""
    match = _TIME.fullmatch(text)  # datetime.fromisoformat accepts neither Z nor nanoseconds before Python 3.11
    if match is None:
        raise ValueError(f"the text {text!r} is not a time")
    day, clock, fraction, zone = match.groups()
    zone = "+00:00" if zone in (None, "Z", "z") else zone
    return datetime.fromisoformat(f"{day}T{clock}.{(fraction or '')[:6]:0<6}{zone}").astimezone(timezone.utc)


@lru_cache(maxsize=None)
def _decoder(to: Any) -> Decoder:
    origin, arguments = typing.get_origin(to), typing.get_args(to)
    if origin is Union:  # only Optional occurs
        inner = _decoder(arguments[0])
        return lambda value: None if value is None else inner(value)
    if origin is list:
        inner = _decoder(arguments[0])
        return lambda value: [inner(item) for item in _of(list, value if value is not None else [])]
    if origin is dict:
        inner = _decoder(arguments[1])
        return lambda value: {name: inner(member) for name, member in _of(dict, value if value is not None else {}).items()}
    if dataclasses.is_dataclass(origin or to):
        return _object(origin or to, arguments)
    if to is datetime:
        return lambda value: parse_time(_of(str, value))
    if to is float:
        return lambda value: float(_of((int, float), value))
    if to in (str, int, bool):
        return lambda value: _of(to, value)
    return lambda value: value


def _object(to: Any, arguments: tuple[Any, ...]) -> Decoder:
    hints = typing.get_type_hints(to)
    types = dict(zip(getattr(to, "__parameters__", ()), arguments))  # of a generic class such as Page[Session]
    members = {
        field.metadata.get("name", field.name): (field.name, _decoder(_replaced(hints[field.name], types)))
        for field in dataclasses.fields(to)
    }

    def decoded(value: Any) -> Any:
        return to(**{members[name][0]: members[name][1](member) for name, member in _of(dict, value).items() if name in members})

    return decoded


def _replaced(hint: Any, types: dict[Any, Any]) -> Any:
    """Return a type with its type variables replaced."""
    parameters = getattr(hint, "__parameters__", ())
    return hint[tuple(types[p] for p in parameters)] if parameters else hint


def _of(kind: Any, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"the response contains a value of the unexpected type {type(value).__name__}")
    return value
