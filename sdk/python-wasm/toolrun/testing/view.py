"""The memory of one run: a transaction that sees its own writes, and is stored whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from toolrun.errors import MemoryAccessError
from toolrun.testing import documents, options, projection
from toolrun.testing.draft import Draft, Write, apply, decode
from toolrun.testing.faults import fault, quote, shortened
from toolrun.testing.shelf import Caller, Key, Record, Shelf, size_of
from toolrun.testing.similar import similar
from toolrun.testing.stores import SESSION_META, VERBS, Store


@dataclass
class Entry:
    """One record as the run sees it."""

    store: Store | None  # None for sessionMeta
    name: str
    key: Key
    base: Record | None = None
    read: bool = False  # the tool learnt something about the record
    writes: list[Write] = field(default_factory=list)
    draft: Draft = Draft()


class View:
    """What one run may see of a shelf. Grants of None are the test's own, which may do everything."""

    def __init__(
        self,
        shelf: Shelf,
        stores: dict[str, Store],
        caller: Caller,
        grants: dict[str, frozenset] | None,
        metadata: dict,
    ) -> None:
        shelf.use(caller)
        self.shelf, self.stores, self.caller, self.grants = shelf, stores, caller, grants
        self.metadata = metadata  # what sessionMeta shows where there is no session
        self.now = shelf.now()
        self.entries: dict[Key, Entry] = {}

    def call(self, op: str, texts: list[str]) -> Any:
        """Perform an operation. The texts are JSON, in the order of its parameters; "" is an absent one."""
        texts = texts + [""] * (3 - len(texts))
        name = None
        try:
            name = _store_name(texts[0])
            return _PERFORMERS[op](self, self._open(op, name), texts)
        except MemoryAccessError as error:
            error.op, error.store = op, None if name is None else shortened(name)
            raise

    def _open(self, op: str, name: str) -> Entry:
        verb = _VERB_OF[op]
        granted = frozenset(VERBS) if self.grants is None else self.grants.get(name)
        if granted is None or (name not in self.stores and name != SESSION_META):
            raise self._no_store(name)
        if name == SESSION_META and verb != "read":
            raise fault("read_only", f"{SESSION_META} can be read, but only the host writes it")
        if verb not in granted:
            hint = f"add the verb {verb} to the tool's grants"
            raise fault("access_denied", f'this tool may not {verb} the store "{name}"', hint=hint)
        if name == SESSION_META:
            key: Key = (("session", self.caller.session),) if self.caller.session else ()
            return self.entries.get(key) or Entry(None, name, key)
        store = self.stores[name]
        key = self._key(store)
        return self.entries.get(key) or Entry(store, name, key)

    def _no_store(self, name: str) -> MemoryAccessError:
        near = similar(name, [*self.stores] if self.grants is None else [*self.grants])
        hint = f'did you mean "{near}"?' if near else "declare the store in the app file and grant it to the tool"
        return fault("not_found", f"there is no store {quote(name)}, or this tool was not granted it", hint=hint)

    def _key(self, store: Store) -> Key:
        app, last = ("app", self.caller.app), ("store", store.name)
        if store.access == "user":
            if not self.caller.user:
                message = f'the store "{store.name}" is each user\'s own, and this run has no user'
                raise fault("no_user", message, hint="run it for a user")
            return (app, ("user", self.caller.user), last)
        if store.access == "session":
            if not self.caller.session:
                raise _no_session(store)
            return (app, ("session", self.caller.session), last)
        return (app, last)

    def _load(self, entry: Entry, read: bool) -> None:
        """Bring an entry into the run and, where read is set, among the records that it depends on."""
        if not entry.key:
            return  # without a session, sessionMeta has no record behind it
        if entry.key not in self.entries:
            self.entries[entry.key] = entry
            if entry.store:
                entry.base = self.shelf.alive(entry.key)
                entry.draft = _draft_of(entry.base)
        entry.read = entry.read or read

    def _get(self, entry: Entry, texts: list[str]) -> Any:
        wanted = projection.parse(texts[1])
        chosen = options.parse(texts[2], "record")
        self._load(entry, True)
        if entry.store and not entry.draft.exists:
            return None
        content = entry.draft.content if entry.store else self._session_meta()
        if wanted:
            content = wanted.apply(content)
            content = None if content is projection.NOTHING else content
        if not chosen.record:
            return content
        if entry.store is None:
            hint = 'read it without the option "record"'
            raise fault("invalid_argument", f"{SESSION_META} has no revision or times of its own", hint=hint)
        record = self._next(entry)
        return {
            "content": content,
            "revision": record.revision,
            "created": _told(record.created),
            "updated_at": _told(record.updated),
            "expires_at": _told(record.expires),
        }

    def _session_meta(self) -> dict:
        session = self.shelf.sessions.get(self.caller.session or "")
        return {
            "metadata": session.metadata if session else self.metadata,
            "sessionInfo": {
                "sessionId": self.caller.session or None,
                "appId": self.caller.app,
                "sessionReference": session.reference if session else None,
                "userReference": session.user_reference if session else None,
                "userId": self.caller.user or None,
                "runId": self.caller.run,
                "timestamp": _told(session.started if session else None),
            },
            "artifacts": [],
        }

    def _set(self, entry: Entry, texts: list[str]) -> dict:
        chosen = options.parse(texts[2], "replace", "if_revision", "ttl")
        store = entry.store
        assert store  # sessionMeta is read-only
        write = Write(self._writable(store, texts[1], chosen.ttl), replace=chosen.replace, ttl=chosen.ttl)
        self._prepare(entry, chosen.if_revision)
        try:
            draft = apply(store, entry.draft, write, self.shelf.limits)
            self._check_quota(entry, draft)
        except MemoryAccessError:
            entry.read = True  # the error tells something about the record
            raise
        entry.writes.append(write)
        entry.draft = draft
        record = self._next(entry) if entry.read else None  # otherwise the reply tells nothing that depends on it
        return {
            "success": True,
            "revision": record.revision if record else None,
            "updated_at": _told(record.updated) if record else None,
            "expires_at": _told(self._expires(store, draft.ttl)),
        }

    def _writable(self, store: Store, text: str, ttl: timedelta | None) -> Any:
        """Read a value, and check what can be checked without the record."""
        if text.strip() in ("", "null"):
            message = "there is no content to store: it is missing or null"
            raise fault("invalid_argument", message, hint="delete_content removes a record")
        value = decode(text, self.shelf.limits)
        if not isinstance(value, dict) and not store.any_root:
            hint = "a schema with another type at its root allows other contents"
            raise fault("invalid_argument", "the content must be an object", hint=hint)
        if store.ends_with_session and not self.caller.session:
            raise _no_session(store)
        longest = store.retention.time
        if longest and ttl and ttl > longest:
            message = f"the ttl is longer than the store's retention of {store.retention}, which it may only shorten"
            raise fault("invalid_argument", message)
        return value

    def _prepare(self, entry: Entry, if_revision: int | None) -> None:
        self._load(entry, if_revision is not None)
        if if_revision is None:
            return
        current = self._next(entry).revision if entry.draft.exists else 0
        if current != if_revision:
            hint = 'read it again with the option "record" and decide anew'
            raise fault("conflict", f"the record has revision {current}, not {if_revision}", hint=hint)

    def _delete(self, entry: Entry, texts: list[str]) -> dict:
        chosen = options.parse(texts[1], "if_revision")
        self._load(entry, True)
        self._prepare(entry, chosen.if_revision)
        existed = entry.draft.exists
        if existed:
            entry.writes.append(Write(remove=True))
            entry.draft = Draft()
        return {"success": True, "deleted": existed}

    def _next(self, entry: Entry) -> Record:
        """Return the record as it will be if the run succeeds."""
        base, draft, store = entry.base, entry.draft, entry.store
        assert store
        if not entry.writes and base:
            return base
        updated = self.now
        if base and updated <= base.updated:
            updated = base.updated + timedelta(microseconds=1)  # strictly increasing, whatever clocks do
        return Record(
            draft.content,
            (base.revision if base else self.shelf.above(entry.key)) + 1,
            self.now if draft.fresh or not base else base.created,
            updated,
            self._expires(store, draft.ttl),
            self.caller.session if store.ends_with_session else None,
        )

    def _expires(self, store: Store, ttl: timedelta | None) -> datetime | None:
        life = ttl or store.retention.time
        return self.now + life if life else None

    def _check_quota(self, entry: Entry, draft: Draft) -> None:
        grown = [self._change(e, e.draft) for e in self.entries.values() if e is not entry and e.writes]
        grown.append(self._change(entry, draft))
        more_records, more_bytes = sum(r for r, _ in grown), sum(b for _, b in grown)
        records, size = self.shelf.usage()
        limits, hint = self.shelf.limits, "delete records or files, or raise the limit"
        if records + more_records > limits.app_records and more_records > 0:
            raise fault("quota_exceeded", f"quota of records: the write adds {more_records}, and the app may hold {limits.app_records}", hint=hint)
        if size + more_bytes > limits.app_bytes and more_bytes > 0:
            raise fault("quota_exceeded", f"quota of bytes: the write adds {more_bytes}, and the app may hold {limits.app_bytes}", hint=hint)

    def _change(self, entry: Entry, draft: Draft) -> tuple[int, int]:
        raw = self.shelf.records.get(entry.key)
        if raw and self.shelf.expired(raw):
            raw = None
        records, size = (-1, -size_of(entry.key, raw.content)) if raw else (0, 0)
        return (records + 1, size + size_of(entry.key, draft.content)) if draft.exists else (records, size)

    def commit(self) -> dict:
        """Store what the run wrote and return its effects."""
        for entry in self.entries.values():
            now = self.shelf.alive(entry.key) if entry.store else None
            if now is not entry.base and entry.read:
                raise fault("conflict", "another run changed the same record; toolrun would run this one again")
            if now is not entry.base:  # what was written without reading is applied to the latest content
                entry.base, entry.draft = now, _draft_of(now)
                for write in entry.writes:
                    assert entry.store
                    entry.draft = apply(entry.store, entry.draft, write, self.shelf.limits)
        effects = self.effects()
        for entry in self.entries.values():
            if entry.writes and entry.draft.exists:
                self.shelf.records[entry.key] = self._next(entry)
            elif entry.writes:
                self.shelf.remove(entry.key)
        return effects

    def effects(self) -> dict:
        """Return what the run read and wrote: names and revisions, no content."""
        reads, writes = [], []
        for entry in self.entries.values():
            if entry.read:
                reads.append({"store": entry.name, "revision": self._base_revision(entry)})
            if not entry.writes:
                continue
            exists = entry.draft.exists
            effect = {"store": entry.name, "revision": self._next(entry).revision if exists else 0}
            effect["op"] = "set" if exists else "delete"
            if entry.draft.violations:
                effect["violations"] = list(entry.draft.violations)
            writes.append(effect)
        return {"reads": reads, "writes": writes}

    def _base_revision(self, entry: Entry) -> int:
        if entry.store is None:
            return self.shelf.sessions[self.caller.session or ""].revision
        return entry.base.revision if entry.base else 0


# What performs each operation, and the verb that it needs.
_PERFORMERS: dict[str, Any] = {"get_content": View._get, "set_content": View._set, "delete_content": View._delete}
_VERB_OF = dict(zip(_PERFORMERS, VERBS))


def _store_name(text: str) -> str:
    try:
        name = documents.decode(text or "null")
    except documents.Malformed:
        name = None
    if not isinstance(name, str):
        hint = 'for example memory.get_content("userPrefs")'
        raise fault("invalid_argument", "the first argument must be the name of a store", hint=hint)
    return name


def _draft_of(record: Record | None) -> Draft:
    return Draft(True, record.content) if record else Draft()


def _no_session(store: Store) -> MemoryAccessError:
    message = f'the store "{store.name}" lives with a session, and this run has no session'
    return fault("no_session", message, hint="run it in a session")


def _told(time: datetime | None) -> str | None:
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if time else None
