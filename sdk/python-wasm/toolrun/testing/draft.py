"""What writes make of a record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from toolrun.errors import MemoryAccessError
from toolrun.testing import documents
from toolrun.testing.faults import fault
from toolrun.testing.merge import merge
from toolrun.testing.words import summary

if TYPE_CHECKING:
    from toolrun.testing.shelf import Limits
    from toolrun.testing.stores import Store


@dataclass(frozen=True)
class Write:
    """One thing that a run did to a record: deletes it, replaces it by value, or merges value into it."""

    value: Any = None
    remove: bool = False
    replace: bool = False
    ttl: timedelta | None = None


@dataclass(frozen=True)
class Draft:
    """The state of a record within a run. Its content is never changed, only replaced."""

    exists: bool = False
    content: Any = None
    fresh: bool = False  # the record, as it now is, began its life in this run
    ttl: timedelta | None = None
    violations: tuple = ()  # of a store that is not strict


def apply(store: Store, before: Draft, write: Write, limits: Limits) -> Draft:
    """Return what a write makes of a draft, or raise why it is refused."""
    if write.remove:
        return Draft()
    content = write.value
    if not write.replace:
        content = merge(before.content if before.exists else {}, write.value)
    found: list[dict] = []
    if store.schema:
        if write.replace or not before.exists:
            content = store.schema.defaults(content)
        found = _violations(store, content, before)
        if store.strict and found:
            message = f'the content does not fit the schema of "{store.name}": {summary(found)}'
            raise fault("schema_violation", message, violations=found)
    check_size(content, limits)
    return Draft(True, content, before.fresh or not before.exists, write.ttl, tuple(found))


def _violations(store: Store, content: Any, before: Draft) -> list[dict]:
    """Return the violations of a content, marked where the content before had them already."""
    assert store.schema
    found = store.schema.violations(content)
    if not found or not before.exists:
        return found
    had = {(v["pointer"], v["keyword"]) for v in store.schema.violations(before.content)}
    return [{**v, "existing": True} if (v["pointer"], v["keyword"]) in had else v for v in found]


def check_size(content: Any, limits: Limits) -> None:
    """Refuse a content that is larger or deeper than a record may be."""
    text = documents.encode(content)
    decode(text, limits)


def decode(text: str, limits: Limits) -> Any:
    """Read a content within the limits, or raise why it is refused."""
    size = len(text.encode(errors="surrogatepass"))
    if size > limits.record_bytes:
        message = f"the content has {size} bytes of JSON, and a record may have {limits.record_bytes}"
        raise fault("too_large", message)
    try:
        return documents.decode(text, limits.depth, limits.keys)
    except documents.Malformed as error:
        raise _refusal(error, limits) from None


def _refusal(error: documents.Malformed, limits: Limits) -> MemoryAccessError:
    if isinstance(error, documents.TooDeep):
        return fault("too_large", f"the content is nested deeper than {limits.depth} levels")
    if isinstance(error, documents.TooManyKeys):
        return fault("too_large", f"an object in the content has more than {limits.keys} members")
    return fault("invalid_argument", f"the value cannot be stored: {error}")
