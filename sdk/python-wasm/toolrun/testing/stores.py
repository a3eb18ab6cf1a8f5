"""Declarations of stores, with the keys of an app file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Iterable, Mapping

from toolrun.testing.schema import Schema
from toolrun.testing.similar import similar

SESSION_META = "sessionMeta"
VERBS = ("read", "write", "delete")

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_COUNT = re.compile(r"([1-9][0-9]{0,9})([smhd])")
_UNITS = {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_LONGEST = timedelta(days=100 * 365)


@dataclass(frozen=True)
class Retention:
    """How long a record lives after its last write; without both, until it is deleted."""

    time: timedelta | None = None
    session: bool = False

    def __str__(self) -> str:
        for word, known in _WORDS.items():
            if self == known:
                return word
        if self.time is None:
            return ""
        for unit in "dhm":
            if self.time % _UNITS[unit] == timedelta():
                return f"{self.time // _UNITS[unit]}{unit}"
        return f"{self.time // _UNITS['s']}s"


_WORDS = {
    "session": Retention(session=True),
    "1_day": Retention(timedelta(days=1)),
    "1_week": Retention(timedelta(days=7)),
    "1_month": Retention(timedelta(days=30)),
}


def parse_retention(text: str) -> Retention:
    """Read session, 1_day, 1_week, 1_month, or a count and one unit: 90d, 24h, 30m, 10s."""
    word = text.replace(" ", "_")
    if word in _WORDS:
        return _WORDS[word]
    found = _COUNT.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not a retention: it takes session, 1_day, 1_week, 1_month, 90d, 24h, 30m or 10s")
    count, unit = int(found[1]), _UNITS[found[2]]
    if count > _LONGEST // unit:
        raise ValueError(f"the retention {text!r} is longer than 100 years")
    return Retention(count * unit)


@dataclass(frozen=True)
class Store:
    """One declared store."""

    name: str
    access: str
    retention: Retention
    strict: bool
    schema: Schema | None
    any_root: bool  # the schema allows a content that is no object

    @property
    def ends_with_session(self) -> bool:
        return self.access == "session" or self.retention.session


_KEYS = {"name", "description", "kind", "access", "retention", "strict", "schema", "expose"}


def declare(name: str, keys: Mapping[str, Any]) -> Store:
    """Make a store of its name and its keys in an app file; ValueError says what is wrong with them."""
    if not _NAME.fullmatch(name) or name.lower() == SESSION_META.lower():
        raise ValueError(f"{name!r} is not a technical name: a letter, then up to 63 letters, digits, _ or -")
    unknown = set(keys) - _KEYS
    if unknown:
        raise ValueError(f"store {name!r} has the unknown key {sorted(unknown)[0]!r}")
    if keys.get("kind", "document") != "document":
        raise ValueError(f"store {name!r}: unknown kind {keys['kind']!r}")
    if keys.get("expose") not in (None, "resource"):
        raise ValueError(f"store {name!r}: expose takes resource, not {keys['expose']!r}")
    access = keys.get("access")
    if access not in ("session", "user", "application"):
        raise ValueError(f"store {name!r}: access takes session, user or application, not {access!r}")
    retention = keys.get("retention") or ("session" if access == "session" else None)
    schema, strict = keys.get("schema"), bool(keys.get("strict", False))
    if isinstance(schema, str):
        raise ValueError(f"store {name!r}: the schema is a path; give what the file holds, as json.load reads it")
    return Store(
        name,
        access,
        parse_retention(retention) if retention else Retention(),
        strict,
        None if schema is None else Schema(schema, strict),
        _allows_any_root(schema),
    )


def _allows_any_root(schema: Any) -> bool:
    kind = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(kind, list):
        return len(kind) > 1 or (len(kind) == 1 and kind[0] != "object")
    return isinstance(kind, str) and kind != "object"


def parse_grants(grants: Mapping[str, Any], stores: Iterable[str]) -> dict[str, frozenset]:
    """Read grants as an app file writes them: store -> read, write, delete, readwrite, some with commas, or a list.
    ValueError says what is wrong with them, such as a store that is not declared."""
    for store in grants:
        if store not in stores and store != SESSION_META:
            near = similar(store, [*stores, SESSION_META])
            advice = f"; did you mean {near!r}?" if near else ""
            raise ValueError(f"a grant names {store!r}, and no such store is declared{advice}")
    parsed = {store: frozenset(_verbs(words)) for store, words in grants.items()}
    if parsed.get(SESSION_META, frozenset()) - {"read"}:
        raise ValueError(f"{SESSION_META} can only be read")
    return parsed


def _verbs(words: Any) -> list[str]:
    verbs: list[str] = []
    for word in words.split(",") if isinstance(words, str) else words:
        word = word.strip()
        if word == "readwrite":
            verbs += VERBS
        elif word in VERBS:
            verbs.append(word)
        else:
            raise ValueError(f"{word!r} is not a verb: a grant takes read, write, delete or readwrite")
    return verbs
