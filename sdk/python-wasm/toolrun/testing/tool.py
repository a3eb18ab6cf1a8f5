"""Running a whole tool."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import io
import logging
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Iterator, Mapping

from toolrun.errors import MemoryAccessError
from toolrun.testing import documents, half
from toolrun.testing.double import Memory
from toolrun.testing.faults import fault
from toolrun.testing.folder import find
from toolrun.testing.modules import own_modules
from toolrun.testing.schema import Schema
from toolrun.testing.words import summary

# What belongs to the workflow that a tool runs in.
_OF_WORKFLOW = ("steps", "branch", "status", "dbquery")

_MAX_OUTPUT = 1 << 20  # bytes


@dataclass
class Result:
    """What a run answered. The fields are those of toolrun's own results."""

    ok: bool
    output: Any = None
    context: dict = field(default_factory=dict)  # the keys that the tool added to its context, or changed there
    logs: list[dict] = field(default_factory=list)  # {"level", "text"}
    error: dict | None = None  # {"code", "message", ...}
    warnings: list[str] = field(default_factory=list)
    effects: dict = field(default_factory=lambda: {"reads": [], "writes": []})
    exception: BaseException | None = None  # what the tool let through, with its traceback

    def check(self) -> Result:
        """Return the result of a run that succeeded, and raise what another one failed with."""
        if self.exception is not None:
            raise self.exception
        return self


def run_tool(
    path: Any,
    input: Mapping[str, Any] | None = None,
    memory: Memory | None = None,
    *,
    context: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    input_schema: Any = None,
    output_schema: Any = None,
) -> Result:
    """Run a tool once, from its source, as toolrun does, and return its Result.

    path is what ``source`` of an app file names: a file, which has no modules of its own, or the folder of a tool.

    All forms run: a body with return and await, main by dict or by keyword, execute(input, context), async ones. The
    module is new in each run, and so are those of the tool's folder that it imports. What a failed run wrote is not
    stored. It is not a sandbox: the tool runs in this process, with all that Python can do, and without limits.
    """
    file, alone = find(Path(path))
    memory = memory or Memory({})
    result = Result(ok=False)
    given, known = _through_json(dict(input or {})), _through_json(dict(context or {}))
    try:
        with memory.run() as view, _logging_to(result):
            document = _context(memory, view.caller.run, known, env)
            _validate(input_schema, given, "input_invalid", "the input does not fit the tool's inputSchema")
            before = _through_json(document)
            tool = _Tool(file, alone, memory, _declared(input_schema))
            answer = tool.answer(half.world.Input(given), document)
            result.output = _output(answer, output_schema)
            result.context = _changes(document, before)
            result.warnings = tool.warnings(answer)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not _raised_in(error, file):  # somebody stops the tests
            raise
        result.exception, result.error = error, _told(error, file)
        result.output, result.context = None, {}
        return result
    result.ok, result.effects = True, memory.effects
    result.warnings += _misfits(memory.effects)
    return result


class _Tool:
    """A tool that was loaded for one run."""

    def __init__(self, path: Path, alone: bool, memory: Memory, params: frozenset) -> None:
        self.path, self.alone, self.memory, self.params = path, alone, memory, params
        self.call: Any = None
        try:
            self.source = half.source.Source(path.read_text(encoding="utf-8-sig"), str(path))
        except SyntaxError as error:
            raise fault("source_invalid", f"SyntaxError: {error.msg}, at line {error.lineno}") from error

    def answer(self, input: dict, context: dict) -> Any:
        """Run the tool; one that exits with success answers nothing."""
        try:
            return self.run(input, context)
        except SystemExit as error:
            if error.code:
                raise
            return None

    def run(self, input: dict, context: dict) -> Any:
        module = ModuleType(self.path.stem if self.source.entry else "__main__")
        names = module.__dict__
        with own_modules(self.path, self.alone, module, half.memory), half.speaking_to(self.memory):
            names.update(half.world.constant_names(half.memory), __file__=str(self.path))
            names[half.source.STAR] = _import_all(names)
            call = self._start(names, input, context)
            answer = call()
            return asyncio.run(_wait(answer)) if inspect.isawaitable(answer) else answer

    def _start(self, names: dict, input: dict, context: dict) -> Callable[[], Any]:
        """Run the top level of a tool with an entry, or make a body ready to be called."""
        of_run = half.world.names_of_run(input, context, self.params)
        if not self.source.entry:
            names.update(of_run)
            exec(self.source.code, names)
            return half.source.body_of(names) if self.source.wrapped else lambda: None
        if self.source.asks(half.world.OF_THE_RUN | self.params):
            names.update(of_run)
            exec(self.source.code, names)
        else:
            # Toolrun runs such a top level once, for all runs: whose memory would it be?
            with half.speaking_to(_Nobody()):
                exec(self.source.code, names)
            names.update(of_run)
        self.call = call = half.calling.Call(self.source.entry, names[self.source.entry])
        return lambda: call(input, context, self.params)

    def warnings(self, answer: Any) -> list[str]:
        found = [half.world.warning_about(self.params), self.call and self.call.doubt, self.source.warning if answer is None else None]
        return [text for text in found if text]


class _Nobody:
    """Answers memory calls where there is no run that they could be of."""

    def answer(self, *fields: str) -> tuple[bytes, str]:
        op = fields[1] if len(fields) > 1 else ""
        message = f"{op}: there is no memory while the top level of a tool runs that has an entry"
        hint = "call memory from the entry: the top level may run once for many runs"
        told = {"code": "invalid_argument", "message": message, "op": op, "hint": hint}
        return b"fault", "1\n" + half.values.encode(told, "fault", half.NESTING)


async def _wait(answer: Any) -> Any:
    return await answer


def _import_all(names: dict) -> Callable[[str, int], None]:
    """Make what stands in for "from module import *" in a body."""

    def import_all(name: str, level: int) -> None:
        module = importlib.import_module("." * level + name, names.get("__package__"))
        public = getattr(module, "__all__", None) or [key for key in vars(module) if not key.startswith("_")]
        names.update((key, getattr(module, key)) for key in public)

    return import_all


def _context(memory: Memory, run_id: str, document: dict, env: Mapping[str, str] | None) -> dict:
    """Make a context what the host makes of it: what it knows goes before what it was given."""
    caller = memory._caller
    document.update(env=dict(env or {}), runId=run_id, appId=caller.app, userId=caller.user, sessionId=caller.session)
    if document.get("steps") is None:
        document["steps"] = {}
    return document


def _through_json(value: Any) -> Any:
    """Return a value as it comes out of the channel. What is no JSON is the test's mistake."""
    try:
        return half.values.decode(half.values.encode(value, "value", 1000))
    except half.values.Unfit as unfit:
        raise TypeError(f"the test gives what is no JSON: {unfit.message}") from None


def _declared(schema: Any) -> frozenset:
    return frozenset(schema.get("properties", ())) if isinstance(schema, dict) else frozenset()


def _validate(schema: Any, document: Any, code: str, message: str) -> None:
    found = Schema(schema).violations(document) if schema is not None else []
    if found:
        raise fault(code, f"{message}: {summary(found)}", violations=found)


def _output(answer: Any, schema: Any) -> Any:
    output = _taken(_encoded(answer, "output"), "output")
    _validate(schema, output, "output_invalid", "the output does not fit the tool's outputSchema")
    return output


def _encoded(value: Any, name: str) -> str:
    try:
        return half.values.encode(value, name, half.NESTING)
    except half.values.Unfit as unfit:
        raise fault("output_invalid", f"the output cannot be written as JSON: {unfit.message}") from None


def _taken(text: str, name: str) -> Any:
    """Return what the host takes of a text, within its limits."""
    if len(text.encode()) > _MAX_OUTPUT:
        raise fault("output_limit", f"the {name} is larger than {_MAX_OUTPUT} bytes")
    try:
        return documents.decode(text, half.NESTING)
    except documents.Malformed as error:
        raise fault("output_invalid", f"the output cannot be written as JSON: {name}: {error}") from None


def _changes(context: dict, before: dict) -> dict:
    """Return the keys of the context that the tool added or changed."""
    changes = {}
    for key, value in context.items():
        if not isinstance(key, str):
            raise fault("output_invalid", "context has a key that is no text")
        text = _encoded(value, f"context.{key}")
        if key in before and half.values.encode(before[key], key, 1000) == text:
            continue
        if key in _OF_WORKFLOW:
            hint = "answer the value instead, or put it under another key of the context"
            raise fault("output_invalid", f'context["{key}"] belongs to the workflow and cannot be changed', hint=hint)
        changes[key] = _taken(text, "context")
    if len(documents.encode(changes).encode()) > _MAX_OUTPUT:
        raise fault("output_limit", f"the context is larger than {_MAX_OUTPUT} bytes")
    return changes


def _raised_in(error: BaseException, file: Path) -> bool:
    """Whether an exception came from the text of a tool, and not from what runs it."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename == str(file)


def _misfits(effects: dict) -> list[str]:
    """Return the warnings of stores that are not strict."""
    found = [(w["store"], v) for w in effects["writes"] for v in w.get("violations", ())]
    return [f"stored although it does not fit the schema of {store}: {summary([v])}" for store, v in found]


def _told(error: BaseException, file: Path) -> dict:
    """Return an uncaught exception as a Result has it. A fault keeps its code only where the tool did not make it."""
    if isinstance(error, MemoryAccessError) and (half.operations.number_of(error) is not None or not _from_tool(error)):
        told = {"code": error.code, "message": error.message, "store": error.store, "hint": error.hint}
        told = {key: value for key, value in told.items() if value}
        return {**told, "violations": error.violations} if error.violations else told
    texts = {str(file): file.read_text(encoding="utf-8-sig")}
    told = {"code": "tool_error", "message": half.failures.message_of(error, texts), "hint": half.failures.hint_of(error)}
    return {key: value for key, value in told.items() if value}


def _from_tool(error: BaseException) -> bool:
    """Report whether an exception was raised in code of the tool, which runs below this module."""
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any(code is _Tool.run.__code__ for code in frames)


@contextlib.contextmanager
def _logging_to(result: Result) -> Iterator[None]:
    """Collect what the tool prints and logs."""
    handler = _Handler(result.logs)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    out, err = _Lines(result.logs, "info"), _Lines(result.logs, "error")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            yield
    finally:
        out.end()
        err.end()
        root.removeHandler(handler)
        root.setLevel(level)


class _Handler(logging.Handler):
    """Takes the records of the module logging."""

    def __init__(self, logs: list[dict]) -> None:
        super().__init__()
        self.logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "asyncio" and record.module in ("selector_events", "proactor_events"):
            return  # of the loop that Python has here, and toolrun has not
        levels = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))
        level = next((name for number, name in levels if record.levelno >= number), "debug")
        self.logs.append({"level": level, "text": self.format(record)})


class _Lines(io.StringIO):
    """A stream whose lines are log lines."""

    def __init__(self, logs: list[dict], level: str) -> None:
        super().__init__()
        self.logs, self.level, self.rest = logs, level, ""

    def write(self, text: str) -> int:
        *lines, self.rest = (self.rest + text).split("\n")
        self.logs += [{"level": self.level, "text": line} for line in lines]
        return len(text)

    def end(self) -> None:
        if self.rest:
            self.write("\n")
