"""The memory for tests: stores, records and sessions of an app, in a process of ``toolrun double``."""

from __future__ import annotations

import json
import weakref
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping

from toolrun.errors import MemoryAccessError
from toolrun.testing import process, runtime

_MAX_TOOLS = 50  # of one memory; the process limits their total number


@dataclass(frozen=True)
class Limits:
    """The limits of an app's memory. None stands for toolrun's default."""

    record_bytes: int | None = None
    depth: int | None = None
    keys: int | None = None
    app_bytes: int | None = None
    app_records: int | None = None


class Memory:
    """Memory for tests. Pass it to run_tool, or call it as a tool does. toolrun serves it in a separate process.

    stores declares the stores with the keys of an app file, with the schema itself in place of its path; file is the path
    of an app file that declares them. If user or session is None, the caller has none. agent is the id of the active
    agent, for its blocks. workflow is the id of the workflow, which owns the facts with the scope execution_tree. grants has
    the form of an app file; tool names a tool of the app file whose grants apply. Without grants and tool, everything
    is granted.

    Each call outside of a run is a separate run. All calls inside ``with memory.run():`` are one run: their writes are
    stored together at the end of the block, or not at all if it raises an exception. Use one thread at a time.
    """

    def __init__(
        self,
        stores: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        file: Any = None,
        app: str = "test",
        user: str | None = "user_test",
        session: str | None = "session_test",
        agent: str | None = None,
        workflow: str | None = None,
        grants: Mapping[str, Any] | None = None,
        tool: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        limits: Limits = Limits(),
        session_idle: timedelta = timedelta(hours=24),
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        if (stores is None) == (file is None):
            raise ValueError("Memory requires either stores or an app file")
        declared = {"app": app, "session_idle": f"{session_idle // timedelta(seconds=1)}s", "memory": dict(stores or {})}
        declaration = {"app": declared} if file is None else {"file": str(Path(file).resolve())}
        bounds = {name: bound for name, bound in asdict(limits).items() if bound is not None}
        self._app = _App(declaration, bounds, clock)
        self._user, self._session, self._agent, self._workflow = user, session, agent, workflow
        self._tool, self._grants = tool, None if grants is None else dict(grants)
        self._app.tool(self._manifest())  # reports a mistake in the grants immediately
        self._metadata: dict | None = None
        self._run: Run | None = None
        self.effects: dict = {"reads": [], "writes": []}  # of the last successful run
        if metadata:
            self.set_metadata(metadata)

    # The operations that a tool calls.

    def get_content(self, *args: Any, **kwargs: Any) -> Any:
        """Return the content of a store, or None if no record exists: store, projection, options."""
        return self._call(self, "get_content", args, kwargs)

    def set_content(self, *args: Any, **kwargs: Any) -> dict:
        """Create the record or merge a value into it: store, value, options."""
        return self._call(self, "set_content", args, kwargs)

    def delete_content(self, *args: Any, **kwargs: Any) -> dict:
        """Delete the record: store, options."""
        return self._call(self, "delete_content", args, kwargs)

    def get_block(self, *args: Any, **kwargs: Any) -> dict | None:
        """Return a block of the user or the agent, or None if there is none: name, options."""
        return self._call(self, "get_block", args, kwargs)

    def update_block(self, *args: Any, **kwargs: Any) -> dict:
        """Store a text in a block in place of the previous one: name, content, options."""
        return self._call(self, "update_block", args, kwargs)

    def delete_block(self, *args: Any, **kwargs: Any) -> dict:
        """Delete a block: name, options."""
        return self._call(self, "delete_block", args, kwargs)

    def get_fact(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value of a fact, or else its declared default or None: path, options."""
        return self._call(self, "get_fact", args, kwargs)

    def set_fact(self, *args: Any, **kwargs: Any) -> dict:
        """Store the value of a fact in place of the previous one: path, value, options."""
        return self._call(self, "set_fact", args, kwargs)

    def delete_fact(self, *args: Any, **kwargs: Any) -> dict:
        """Delete the stored value of a fact: path, options."""
        return self._call(self, "delete_fact", args, kwargs)

    def list_facts(self, *args: Any, **kwargs: Any) -> dict:
        """Return the stored facts, without defaults: prefix, domain, limit, after."""
        return self._call(self, "list_facts", args, kwargs)

    def recall(self, *args: Any, **kwargs: Any) -> dict:
        """Search a collection: collection, query, options. Without a collection, search the blocks: query, options."""
        return self._call(self, "recall", args, kwargs)

    def remember(self, *args: Any, **kwargs: Any) -> dict:
        """Store an entry in a collection: collection, content, options."""
        return self._call(self, "remember", args, kwargs)

    def forget(self, *args: Any, **kwargs: Any) -> dict:
        """Remove entries from a namespace of a collection: collection, selector."""
        return self._call(self, "forget", args, kwargs)

    # The functions that a test calls.

    def put(self, store: str, content: Any) -> None:
        """Replace the content of a store, without a grant and outside of an active run. The schema applies."""
        self._call(_Operator(self), "set_content", (store, content, {"replace": True}), {})

    def content(self, store: str) -> Any:
        """Return the stored content or None, without a grant and outside of an active run."""
        return self._call(_Operator(self), "get_content", (store,), {})

    def record(self, store: str) -> dict | None:
        """Return content, revision, created, updated_at and expires_at of a record, or None.

        Grants and an active run have no effect, as for content.
        """
        return self._call(_Operator(self), "get_content", (store, None, {"record": True}), {})

    def caller(self, **changes: Any) -> Memory:
        """Return the same memory for another caller: user, session, agent, workflow, and grants or tool, as in the constructor."""
        unknown = set(changes) - {"user", "session", "agent", "workflow", "grants", "tool"}
        if unknown:
            raise TypeError(f"unknown argument {sorted(unknown)[0]}")
        other = object.__new__(Memory)
        other.__dict__.update(self.__dict__)
        other._run = None
        other._user, other._session = changes.get("user", self._user), changes.get("session", self._session)
        other._agent = changes.get("agent", self._agent)
        other._workflow = changes.get("workflow", self._workflow)
        if "grants" in changes:
            other._tool, other._grants = None, dict(changes["grants"])
        if "tool" in changes:
            other._tool, other._grants = changes["tool"], None
        self._app.tool(other._manifest())
        return other

    def refuse(self, store: str, code: str | None, message: str = "the test refuses the call", **details: Any) -> None:
        """Make every call from a tool to a store raise the error of a code, until code is None. details can contain a hint."""
        error = None if code is None else {"code": code, "message": message, **details}
        self._app.request("refuse", store=store, error=error)

    def advance(self, time: timedelta) -> None:
        """Advance the clock."""
        self._app.advance(time)

    def set_metadata(self, patch: Mapping[str, Any]) -> None:
        """Merge a patch into sessionMeta.metadata, as the host does. Without a session, it applies to the following runs."""
        if self._session is None:
            self._metadata = dict(patch)
        else:
            self._app.request("session", **self._who(), metadata=dict(patch))

    def set_references(self, session: str | None = None, user: str | None = None) -> None:
        """Set the platform's own identifiers of the session and its user."""
        if self._session is None:
            raise ValueError("no session is open")
        self._app.request("session", **self._who(), session_reference=session or "", user_reference=user or "")

    def end_session(self) -> None:
        """End the caller's session: its records are deleted, and calls with its id fail."""
        self._app.request("end_session", session=self._session or "")

    def end_workflow(self) -> None:
        """End the caller's workflow: its facts are deleted, and calls with its id fail."""
        self._app.request("end_workflow", workflow=self._workflow or "")

    @contextmanager
    def run(self) -> Iterator[Run]:
        """Begin a run: the writes in the block are stored together if it succeeds, or else not at all."""
        run = self.begin()
        try:
            yield run
        except BaseException:
            run.rollback()
            raise
        result = run.commit()
        if not result["ok"]:
            raise runtime.error_of(result["error"])

    # The functions that run_tool calls.

    def begin(self, schemas: Mapping[str, Any] | None = None, **given: Any) -> Run:
        """Begin a run of a tool with inputSchema and outputSchema; given are its input, context, env, mocks and test."""
        if self._run:
            raise RuntimeError("another run is active")
        members = {name: value for name, value in given.items() if value is not None}
        self._run = Run(self, self._app.request("begin", **self._as_tool(schemas, given.get("mocks")), **members))
        return self._run

    def _manifest(self, schemas: Mapping[str, Any] | None = None, mocks: Mapping[str, Any] | None = None) -> dict | str | None:
        """Return the declaration of the caller's tool, the name of a declared tool, or None.

        A tool without a declaration is granted the models that have mocks.
        """
        schemas = {key: schema for key, schema in (schemas or {}).items() if schema is not None}
        if self._tool is not None:
            if schemas:
                raise ValueError("the app file declares the schemas of the tool; omit the schemas")
            return self._tool
        if self._grants is None and not schemas and mocks is None:
            return None
        models = {} if mocks is None else {"models": [name for name, answers in mocks.items() if isinstance(answers, list)]}
        return {"grants": self._app.everything if self._grants is None else self._grants, **schemas, **models}

    def _as_tool(self, schemas: Mapping[str, Any] | None = None, mocks: Mapping[str, Any] | None = None) -> dict:
        tool = self._app.tool(self._manifest(schemas, mocks))
        known = {"tool": tool, "metadata": self._metadata}
        return {**self._caller(), **{name: value for name, value in known.items() if value is not None}}

    def _who(self) -> dict:
        return {"user": self._user or "", "session": self._session or ""}

    def _caller(self) -> dict:
        return {**self._who(), "agent": self._agent or "", "workflow": self._workflow or ""}

    def _call(self, host: Any, op: str, args: tuple, kwargs: dict) -> Any:
        with runtime.connected_to(host):
            return getattr(runtime.memory(), op)(*args, **kwargs)

    def reply(self, *fields: str) -> tuple[bytes, str]:
        """Reply to the guest's runtime."""
        return runtime.reply_to(self._perform, fields)

    def _perform(self, op: str, texts: list[str]) -> Any:
        if self._run:
            return self._app.call(op, texts, run=self._run.handle)["reply"]
        called = self._app.call(op, texts, **self._as_tool())
        self.effects = called["effects"]
        return called["reply"]


class _Operator:
    """The host of calls that act as an operator of the app, without grants."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def reply(self, *fields: str) -> tuple[bytes, str]:
        return runtime.reply_to(self._perform, fields)

    def _perform(self, op: str, texts: list[str]) -> Any:
        return self.memory._app.call(op, texts, operator=True, **self.memory._caller())["reply"]


class Run:
    """An active run."""

    def __init__(self, memory: Memory, started: Mapping[str, Any]) -> None:
        self._memory = memory
        self.handle: str = started["run"]
        self.id: str = started["run_id"]
        self.input: dict = started["input"]
        self.context: dict = started["context"]

    def commit(self, output: str = "null", context: str = "{}", warnings: list[str] | tuple = ()) -> dict:
        """End the run with success, with JSON texts, and return its Result. The commit can still fail."""
        result = self._end("commit", output=runtime.Text(output), context=runtime.Text(context), warnings=list(warnings))
        if result["ok"]:
            self._memory.effects = result["effects"]
        return result

    def rollback(self, error: Mapping[str, Any] | None = None) -> dict:
        """End the run with an error, store nothing, and return its Result."""
        return self._end("rollback", error=error)

    def _end(self, do: str, **members: Any) -> dict:
        self._memory._run = None
        return self._memory._app.request(do, run=self.handle, **members)


class _App:
    """An open app in the process, with its clock. The callers of a memory share it."""

    def __init__(self, declaration: dict, limits: dict, clock: Callable[[], datetime] | None) -> None:
        self._name = process.shared.name()
        self._clock, self._shift, self._shown = clock, timedelta(), None
        self._tools: OrderedDict[str, str] = OrderedDict()  # names by declaration, most recently used last
        self._created = 0
        try:
            opened = self.request("open", **declaration, limits=limits)
        except MemoryAccessError as error:
            raise _mistake(error) from None
        runtime.install(opened["operations"])
        self.everything = {**dict.fromkeys(opened["stores"], "readwrite"), "sessionMeta": "read"}
        weakref.finalize(self, process.shared.forget, self._name)

    def request(self, do: str, **members: Any) -> Any:
        """Send a request about the app."""
        if self._clock is not None and do != "open":
            self._set_clock(self._clock)
        texts = {name: runtime.text_of(value, name) for name, value in members.items()}
        return process.shared.request(do, memory=json.dumps(self._name), **texts)

    def call(self, op: str, texts: list[str], **members: Any) -> dict:
        """Perform an operation. The arguments are JSON texts, "" if absent."""
        return self.request("call", op=op, args=runtime.Text(f"[{','.join(text or 'null' for text in texts)}]"), **members)

    def tool(self, declaration: dict | str | None) -> str | None:
        """Return the name of a tool with a declaration. None stands for a tool with all grants."""
        if declaration is None or isinstance(declaration, str):
            return declaration
        text = runtime.text_of(declaration, "tool")
        name = self._tools.pop(text, None)
        if name is None:
            name = self._declare(text)
        self._tools[text] = name
        return name

    def _declare(self, text: str) -> str:
        if len(self._tools) < _MAX_TOOLS:
            self._created += 1
            name = f"tool_{self._created}"
        else:
            _, name = self._tools.popitem(last=False)
        try:
            self.request("tool", tool=name, manifest=runtime.Text(text))
        except MemoryAccessError as error:
            raise _mistake(error) from None
        return name

    def advance(self, time: timedelta) -> None:
        if self._clock is None:
            self.request("clock", advance=f"{time // timedelta(microseconds=1)}us")
        self._shift += time

    def _set_clock(self, clock: Callable[[], datetime]) -> None:
        now = (clock().astimezone(timezone.utc) + self._shift).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        if now != self._shown:
            self._shown = now
            process.shared.request("clock", memory=json.dumps(self._name), now=json.dumps(now))


def _mistake(error: MemoryAccessError) -> ValueError:
    """Return the exception for an invalid declaration."""
    return ValueError(f"{error.message}; {error.hint}" if error.hint else error.message)
