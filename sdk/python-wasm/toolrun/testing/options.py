"""What a memory call may say beside its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from toolrun.testing import documents
from toolrun.testing.faults import fault, quote
from toolrun.testing.stores import parse_retention


@dataclass
class Options:
    """The options of a call; each is what it is where it is not given."""

    record: bool = False
    replace: bool = False
    if_revision: int | None = None
    ttl: timedelta | None = None


# What each option takes, in words, and how it is read; None is what cannot be read.
_READERS = {
    "record": ("true or false", lambda v: v if isinstance(v, bool) else None),
    "replace": ("true or false", lambda v: v if isinstance(v, bool) else None),
    "if_revision": ("a revision: a whole number, 0 where the record must not exist", lambda v: _revision(v)),
    "ttl": ("a duration such as 90d, 24h, 30m or 10s", lambda v: _ttl(v)),
}


def _revision(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        return None
    return value


def _ttl(value: Any) -> timedelta | None:
    if not isinstance(value, str):
        return None
    try:
        return parse_retention(value).time
    except ValueError:
        return None


def parse(text: str, *allowed: str) -> Options:
    """Read the options of a call, of which only the allowed ones may be there; "" and null are none."""
    options = Options()
    try:
        fields = documents.decode(text or "null", depth=4, keys=100)
    except documents.Malformed:
        fields = False
    if fields is None:
        return options
    names = ", ".join(allowed)
    if not isinstance(fields, dict):
        raise fault("invalid_argument", "the options must be an object", hint=f"it may have: {names}")
    for name in sorted(fields):
        if name not in allowed:
            raise fault("invalid_argument", f"there is no option {quote(name)}", hint=f"the options are: {names}")
        if fields[name] is None:
            continue
        takes, read = _READERS[name]
        setting = read(fields[name])
        if setting is None:
            raise fault("invalid_argument", f'the option "{name}" takes {takes}')
        setattr(options, name, setting)
    return options
