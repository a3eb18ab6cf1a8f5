"""The keywords that look at one value and no further."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Callable

from toolrun.testing import formats
from toolrun.testing.documents import identity


def kind_of(value: Any) -> str:
    """Return the JSON type of a value; numbers are number, whole or not."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def of_type(types: Any, value: Any) -> bool:
    """Report whether a value is of one of the types; 1.0 is an integer."""
    kind = kind_of(value)
    for name in [types] if isinstance(types, str) else types:
        if name == kind or (name == "integer" and kind == "number" and exact(value).denominator == 1):
            return True
    return False


def exact(number: Any) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def allowed(values: list, value: Any) -> bool:
    """Report whether a value equals one of others."""
    wanted = identity(value)
    return any(identity(v) == wanted for v in values)


def _unique(elements: list) -> bool:
    return len({identity(element) for element in elements}) == len(elements)


def _format(name: str, value: str, raw: dict) -> bool:
    check = formats.FORMATS.get(name)
    return check is None or check(value)


def _minimum(limit: Any, value: Any, raw: dict) -> bool:
    if raw.get("exclusiveMinimum") is True:  # draft 4
        return exact(value) > exact(limit)
    return exact(value) >= exact(limit)


def _maximum(limit: Any, value: Any, raw: dict) -> bool:
    if raw.get("exclusiveMaximum") is True:
        return exact(value) < exact(limit)
    return exact(value) <= exact(limit)


# By JSON type, what each keyword asks of a value: check(limit, value, schema). The order is that of the host.
Check = Callable[[Any, Any, dict], bool]
CHECKS: dict[str, dict[str, Check]] = {
    "string": {
        "minLength": lambda limit, value, raw: len(value) >= limit,
        "maxLength": lambda limit, value, raw: len(value) <= limit,
        "pattern": lambda limit, value, raw: re.search(limit, value) is not None,
        "format": _format,
    },
    "number": {
        "minimum": _minimum,
        "exclusiveMinimum": lambda limit, value, raw: isinstance(limit, bool) or exact(value) > exact(limit),
        "maximum": _maximum,
        "exclusiveMaximum": lambda limit, value, raw: isinstance(limit, bool) or exact(value) < exact(limit),
        "multipleOf": lambda limit, value, raw: (exact(value) / exact(limit)).denominator == 1,
    },
    "array": {
        "minItems": lambda limit, value, raw: len(value) >= limit,
        "maxItems": lambda limit, value, raw: len(value) <= limit,
        "uniqueItems": lambda limit, value, raw: not limit or _unique(value),
    },
    "object": {
        "minProperties": lambda limit, value, raw: len(value) >= limit,
        "maxProperties": lambda limit, value, raw: len(value) <= limit,
    },
}
