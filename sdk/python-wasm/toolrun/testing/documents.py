"""JSON documents as the host takes them: bounded in depth, members and numbers, each name once."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_NUMBER_CHARACTERS = 40
MAX_EXPONENT = 308


class Malformed(Exception):
    """A text that is no JSON, or none that the host takes; the message quotes nothing of it."""


class TooDeep(Malformed):
    """Arrays and objects are nested deeper than they may be."""


class TooManyKeys(Malformed):
    """An object has more members than it may."""


def decode(text: str, depth: int = 1000, keys: int = 100_000) -> Any:
    """Read a document within the limits."""
    try:
        value = json.loads(
            text, parse_int=_integer, parse_float=_float, parse_constant=_constant, object_pairs_hook=_object
        )
    except RecursionError:
        raise TooDeep("arrays and objects are nested too deeply") from None
    except ValueError:
        raise Malformed("the text is no JSON") from None
    _check(value, depth, keys)
    return value


def _check(value: Any, depth: int, keys: int) -> None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Malformed("a string holds a surrogate without its other half") from None
    if not isinstance(value, (dict, list)):
        return
    if depth == 0:
        raise TooDeep("arrays and objects are nested too deeply")
    if isinstance(value, list):
        for element in value:
            _check(element, depth - 1, keys)
        return
    for number, (name, member) in enumerate(value.items()):
        if number == keys:  # in the order of the text, as the host reads it: what is wrong first is told
            raise TooManyKeys("an object has too many members")
        _check(name, depth, keys)
        _check(member, depth - 1, keys)


def _object(pairs: list) -> dict:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Malformed("an object has the same member name twice")
    return members


def _integer(token: str) -> int:
    _check_number(token)
    return int(token)


def _float(token: str) -> float:
    _check_number(token)
    return float(token)


def _check_number(token: str) -> None:
    if len(token) > MAX_NUMBER_CHARACTERS:
        raise Malformed("a number has more than 40 characters")
    exponent = re.search(r"[eE][+-]?(\d+)", token)
    if exponent and int(exponent[1]) > MAX_EXPONENT:
        raise Malformed("a number has an exponent beyond 308")


def _constant(token: str) -> Any:
    raise Malformed("the text is no JSON")


def encode(value: Any) -> str:
    """Return value as the host stores it: compact, names sorted."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def size(value: Any) -> int:
    """Return the bytes of what encode returns."""
    return len(encode(value).encode())


def identity(value: Any) -> str:
    """Return a text that two JSON values share exactly where they are equal: 1 and 1.0 are, 1 and true are not."""
    return encode(_whole(value))


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_whole(element) for element in value]
    return value
