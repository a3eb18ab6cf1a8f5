"""Violations in words, as the host says them."""

from __future__ import annotations

import json
from typing import Any

from toolrun.testing.documents import encode

# What a keyword asks: in general, with its limit, and what a limit of 1 makes too much of that.
_PHRASES = {
    "type": ("must be of another type", "must be of type {}", ""),
    "enum": ("must be one of the values that the schema lists", "must be one of {}", ""),
    "const": ("must be the value that the schema gives", "must be {}", ""),
    "minLength": ("is too short", "must have at least {} characters", "s"),
    "maxLength": ("is too long", "must have at most {} characters", "s"),
    "pattern": ("must match the schema's pattern", "must match the pattern {}", ""),
    "format": ("must have the schema's format", "must have the format {}", ""),
    "minimum": ("is too small", "must be at least {}", ""),
    "exclusiveMinimum": ("must be more than the minimum", "must be more than {}", ""),
    "maximum": ("is too large", "must be at most {}", ""),
    "exclusiveMaximum": ("must be less than the maximum", "must be less than {}", ""),
    "multipleOf": ("must be a multiple of what the schema says", "must be a multiple of {}", ""),
    "minItems": ("has too few items", "must have at least {} items", "s"),
    "maxItems": ("has too many items", "must have at most {} items", "s"),
    "uniqueItems": ("must not have an item twice", "", ""),
    "contains": ("must have an item that fits what contains says", "", ""),
    "minContains": (
        "has too few items that fit what contains says",
        "must have at least {} items that fit what contains says",
        "",
    ),
    "maxContains": (
        "has too many items that fit what contains says",
        "must have at most {} items that fit what contains says",
        "",
    ),
    "required": ("is required", "", ""),
    "dependentRequired": ("is required beside another property", "", ""),
    "dependencies": ("is required beside another property", "", ""),
    "minProperties": ("has too few properties", "must have at least {} properties", ""),
    "maxProperties": ("has too many properties", "must have at most {} properties", ""),
    "anyOf": ("must fit one of the schemas of anyOf", "", ""),
    "oneOf": ("must fit exactly one of the schemas of oneOf", "", ""),
    "not": ("must not fit what not says", "", ""),
}

# What a schema says by being false, by the keyword that holds it.
_REFUSED = {
    "additionalProperties": "is not a property that the schema declares",
    "unevaluatedProperties": "is not a property that the schema declares",
    "additionalItems": "is one item more than the schema allows",
    "unevaluatedItems": "is one item more than the schema allows",
    "propertyNames": "is not an allowed name",
}


def summary(violations: list[dict]) -> str:
    """Say violations in one line, the first few of them."""
    most = 5
    parts = [f"{v['pointer'] or '/'}: {_demand(v)}" for v in violations[:most]]
    if len(violations) > most:
        parts.append(f"and {len(violations) - most} more")
    return "; ".join(parts)


def _demand(violation: dict) -> str:
    keyword = violation["keyword"]
    limit = encode(violation["limit"]) if "limit" in violation else ""
    bare, limited, plural = _PHRASES.get(keyword, ("", "", ""))
    if limit == "false" and (not bare or keyword == "dependencies"):
        return _REFUSED.get(keyword, "is not allowed")
    if not bare:
        return "does not fit " + keyword
    if limit == "" or (limit == "true" and keyword != "const") or limited == "":
        return bare
    if keyword == "type":
        return limited.format(_alternatives(violation["limit"]))
    text = limited.format(limit)
    return text[: -len(plural)] if limit == "1" and plural else text


def _alternatives(types: Any) -> str:
    return " or ".join(json.dumps(name) for name in (types if isinstance(types, list) else [types]))
