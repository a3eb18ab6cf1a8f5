"""The memory double: stores, records and sessions of an app, without toolrun."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Callable, Iterator, Mapping

from toolrun.errors import MemoryAccessError
from toolrun.testing import documents, half
from toolrun.testing.faults import fault
from toolrun.testing.shelf import Caller, Limits, Shelf, patched
from toolrun.testing.stores import SESSION_META, declare, parse_grants
from toolrun.testing.view import View


class Memory:
    """Memory for tests: give it to run_tool, or call it as a tool does.

    stores are declared with the keys of an app file, the schema not as a path but as what its file holds. A user or
    session of None is one that is not known. grants are written as in an app file; without them everything is granted.

    Each call outside of a run is a run of its own. Inside of ``with memory.run():`` all calls are one: they are stored
    whole when the block ends, and none of them is where it ends in an exception. One thread at a time.
    """

    def __init__(
        self,
        stores: Mapping[str, Mapping[str, Any]],
        *,
        app: str = "test",
        user: str | None = "user_test",
        session: str | None = "session_test",
        grants: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        limits: Limits = Limits(),
        session_idle: timedelta = timedelta(hours=24),
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self._stores = {name: declare(name, keys) for name, keys in stores.items()}
        if len({name.lower() for name in stores}) < len(stores):
            raise ValueError("two stores have names that differ in nothing but case")
        self._shelf = Shelf(limits, session_idle, clock)
        self._caller = Caller(app, user, session)
        everything = {**dict.fromkeys(stores, "readwrite"), SESSION_META: "read"}
        self._grants = parse_grants(everything if grants is None else grants, self._stores)
        self._metadata: dict = {}
        self._refusals: dict[str, MemoryAccessError] = {}
        self._view: View | None = None
        self._runs = 0
        self.effects: dict = {"reads": [], "writes": []}  # of the last run that succeeded
        if metadata:
            self.set_metadata(metadata)

    # What a tool calls.

    def get_content(self, *args: Any, **kwargs: Any) -> Any:
        """Return the content of a store, or None where there is no record: store, projection, options."""
        return self._call("get_content", args, kwargs)

    def set_content(self, *args: Any, **kwargs: Any) -> dict:
        """Create the record or merge into it: store, value, options."""
        return self._call("set_content", args, kwargs)

    def delete_content(self, *args: Any, **kwargs: Any) -> dict:
        """Delete the record: store, options."""
        return self._call("delete_content", args, kwargs)

    # What a test does.

    def put(self, store: str, content: Any) -> None:
        """Store a content as it is, without a grant; the schema holds."""
        self._as_test("set_content", store, content, {"replace": True})

    def content(self, store: str) -> Any:
        """Return the content of a store without a grant, or None."""
        return self._as_test("get_content", store)

    def record(self, store: str) -> dict | None:
        """Return content, revision, created, updated_at and expires_at of a store without a grant, or None."""
        return self._as_test("get_content", store, None, {"record": True})

    def caller(self, **changes: Any) -> Memory:
        """Return the same memory for another caller: user, session, and grants as the constructor takes them."""
        other = object.__new__(Memory)
        other.__dict__.update(self.__dict__)
        other._view = None
        if "grants" in changes:
            other._grants = parse_grants(changes.pop("grants"), self._stores)
        other._caller = replace(self._caller, **changes)
        return other

    def refuse(self, store: str, code: str | None, message: str = "the test refuses it", **details: Any) -> None:
        """Have every call on a store raise the error of a code, until code is None."""
        if code is None:
            self._refusals.pop(store, None)
        else:
            self._refusals[store] = fault(code, message, **details)

    def advance(self, time: timedelta) -> None:
        """Let time go by."""
        self._shelf.shift += time

    def set_metadata(self, patch: Mapping[str, Any]) -> None:
        """Merge into sessionMeta.metadata, as the host does for whoever calls it."""
        if self._caller.session is None:
            self._metadata = patched(self._metadata, patch)
        else:
            self._shelf.use(self._caller, metadata=patch)

    def set_references(self, session: str | None = None, user: str | None = None) -> None:
        """Set the platform's own names for the session and its user."""
        if self._caller.session is None:
            raise ValueError("there is no session")
        self._shelf.use(self._caller, reference=session, user_reference=user)

    def end_session(self) -> None:
        """End the caller's session: what lived with it is gone, and its id is refused from now on."""
        self._shelf.end(self._caller.session or "")

    @contextmanager
    def run(self, run_id: str | None = None) -> Iterator[View]:
        """Begin a run: what is written in the block is stored whole where it ends well, or not at all."""
        if self._view:
            raise RuntimeError("a run is under way already")
        self._runs += 1
        caller = replace(self._caller, run=run_id or f"run_{self._runs}")
        view = self._view = View(self._shelf, self._stores, caller, self._grants, self._metadata)
        try:
            yield view
            self.effects = view.commit()
        finally:
            self._view = None

    def _call(self, op: str, args: tuple, kwargs: dict) -> Any:
        with half.speaking_to(self):
            return getattr(half.memory, op)(*args, **kwargs)

    def answer(self, *fields: str) -> tuple[bytes, str]:
        """Answer the guest's half."""
        kind, *rest = fields
        try:
            if kind == "refuse":
                raise _unfit(*rest)
            if kind == "call":
                return b"ok", documents.encode(self._perform(rest[0], rest[1:]))
            return b"none", ""
        except MemoryAccessError as error:
            return b"fault", "1\n" + documents.encode(_told(error))

    def _perform(self, op: str, texts: list[str]) -> Any:
        for store, error in self._refusals.items():
            if texts and texts[0] == documents.encode(store):
                error.op, error.store = op, store
                raise error
        if self._view:
            return self._view.call(op, texts)
        with self.run() as view:
            return view.call(op, texts)

    def _as_test(self, op: str, *args: Any) -> Any:
        """Perform an operation in a run of its own, or in the one under way, without grants or refusals."""
        texts = ["" if arg is None else documents.encode(arg) for arg in args]
        if self._view is None:
            view = View(self._shelf, self._stores, self._caller, None, self._metadata)
            reply = view.call(op, texts)
            view.commit()
            return reply
        grants, self._view.grants = self._view.grants, None
        try:
            return self._view.call(op, texts)
        finally:
            self._view.grants = grants


def _unfit(op: str, kind: str, text: str) -> MemoryAccessError:
    """Make the error of a value that the guest's half could not write as JSON."""
    error = fault("too_large" if kind == "deep" else "invalid_argument", documents.decode(text))
    error.op = op
    return error


def _told(error: MemoryAccessError) -> dict:
    told = {"code": error.code, "message": error.message, "store": error.store, "op": error.op, "hint": error.hint}
    return {**{key: value for key, value in told.items() if value}, "violations": error.violations}
