"""What lasts from run to run: records and sessions, and the clock that they live by."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Callable

from toolrun.testing import documents
from toolrun.testing.faults import fault
from toolrun.testing.merge import merge

# A key is pairs of what a part names and its value: app, then user or session, then store.
Key = tuple


@dataclass(frozen=True)
class Record:
    """What is stored under a key."""

    content: Any
    revision: int
    created: datetime
    updated: datetime
    expires: datetime | None = None
    ends: str | None = None  # the session that it ends with


@dataclass(frozen=True)
class Session:
    """A session as it is stored."""

    started: datetime
    used: datetime
    user: str | None = None
    reference: str | None = None
    user_reference: str | None = None
    metadata: dict = field(default_factory=dict)
    ended: bool = False
    revision: int = 1


@dataclass(frozen=True)
class Limits:
    """What an app may keep. The defaults are the host's."""

    record_bytes: int = 256 << 10
    depth: int = 32
    keys: int = 1000
    app_bytes: int = 1 << 30
    app_records: int = 1_000_000


@dataclass(frozen=True)
class Caller:
    """For whom a run acts."""

    app: str = "test"
    user: str | None = None
    session: str | None = None
    run: str = "run_test"


class Shelf:
    """The records and sessions of one app."""

    def __init__(self, limits: Limits, session_idle: timedelta, clock: Callable[[], datetime] | None) -> None:
        self.limits = limits
        self.session_idle = session_idle
        self.records: dict[Key, Record] = {}
        self.floors: dict[tuple, int] = {}  # the highest revision of a removed record, for each shard of a store
        self.sessions: dict[str, Session] = {}
        self.shift = timedelta()
        self._clock = clock or (lambda: datetime.now(timezone.utc))

    def now(self) -> datetime:
        return self._clock().astimezone(timezone.utc) + self.shift

    def alive(self, key: Key) -> Record | None:
        """Return a record as callers see it: none where its lifetime has ended, by time or with its session."""
        record = self.records.get(key)
        if record is None:
            return None
        if self.expired(record):
            return None
        if record.ends is not None and not self.open(self.sessions.get(record.ends)):
            return None
        return record

    def open(self, session: Session | None) -> bool:
        """Report whether a session is open. Uses are noted every eighth of session_idle: hence the eighth more."""
        idle = self.session_idle + self.session_idle / 8
        return session is not None and not session.ended and self.now() < session.used + idle

    def use(self, caller: Caller, metadata: Any = None, **changes: Any) -> None:
        """Begin the caller's session, or note that it is used; raise where the caller may not use it. metadata is a
        merge patch, and changes are what else the host tells of the session."""
        if caller.session is None:
            return
        now, session = self.now(), self.sessions.get(caller.session)
        if session:
            self._check(session, caller)
        if metadata is not None:
            changes["metadata"] = patched(session.metadata if session else {}, metadata)
        if session is None:
            self.sessions[caller.session] = Session(started=now, used=now, user=caller.user, **changes)
        elif changes or session.user != caller.user or now - session.used > self.session_idle / 8:
            revision = session.revision + 1
            self.sessions[caller.session] = replace(session, used=now, user=caller.user, revision=revision, **changes)

    def _check(self, session: Session, caller: Caller) -> None:
        if not self.open(session):
            raise fault("session_ended", "the session has ended", hint="start a new session with another id")
        if session.user and session.user != caller.user:
            named = "a session is used by the user who started it"
            hint = named if caller.user else "name the session's user with user_id"
            raise fault("access_denied", "the session belongs to another user", hint=hint)

    def end(self, name: str) -> None:
        """End a session: its id is refused from now on, and what lived with it is gone."""
        session = self.sessions.get(name)
        if session is None:
            raise fault("not_found", "there is no such session")
        self.sessions[name] = replace(session, ended=True, user=None, metadata={})
        for key in [key for key, r in self.records.items() if r.ends == name]:
            self.remove(key)

    def remove(self, key: Key) -> None:
        """Remove a record. Those that are made later under a key of its shard begin above its revision."""
        record = self.records.pop(key, None)
        if record:
            self.floors[floor_of(key)] = max(self.floors.get(floor_of(key), 0), record.revision)

    def above(self, key: Key) -> int:
        """Return the revision above which a record that is made under a key begins."""
        record = self.records.get(key)
        return max(self.floors.get(floor_of(key), 0), record.revision if record else 0)

    def usage(self) -> tuple[int, int]:
        """Return how many records there are and their bytes. Expired ones make room where it is needed."""
        held = {key: r for key, r in self.records.items() if not self.expired(r)}
        return len(held), sum(size_of(key, r.content) for key, r in held.items())

    def expired(self, record: Record) -> bool:
        return record.expires is not None and self.now() >= record.expires


def patched(metadata: dict, patch: Any) -> dict:
    """Merge a patch into a session's metadata."""
    patch = documents.decode(documents.encode(patch))
    if not isinstance(patch, dict):
        raise fault("invalid_argument", "the session's metadata must be an object")
    return merge(metadata, patch)


def size_of(key: Key, content: Any) -> int:
    """Return what a record counts for: its content, and its key with a tag and a length before each part."""
    return documents.size(content) + sum(_part_size(value) for _, value in (("tenant", "default"), *key))


_TAGS = {"tenant": 0x10, "app": 0x20, "user": 0x30, "session": 0x50, "store": 0x70}


def floor_of(key: Key) -> tuple:
    """Return the store and the shard of a key, which is one of 16 by its hash (FNV-1a)."""
    encoded = b"".join(_encoded(_TAGS[name], value) for name, value in (("tenant", "default"), *key))
    digest = 0x811C9DC5
    for byte in encoded:
        digest = (digest ^ byte) * 0x01000193 & 0xFFFFFFFF
    return key[-1], digest % 16


def _encoded(tag: int, value: str) -> bytes:
    text = value.encode()
    length, varint = len(text), b""
    while length > 0x7F:
        varint, length = varint + bytes([length & 0x7F | 0x80]), length >> 7
    return bytes([tag]) + varint + bytes([length]) + text


def _part_size(value: str) -> int:
    length = len(value.encode())
    return 1 + max(1, (length.bit_length() + 6) // 7) + length
