"""Execution of a tool in a test."""

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
from toolrun.testing import runtime
from toolrun.testing.double import Memory, Run
from toolrun.testing.folder import find
from toolrun.testing.modules import own_modules


@dataclass
class Result:
    """The result of a run. It has the fields of toolrun's own results."""

    ok: bool
    output: Any = None
    context: dict = field(default_factory=dict)  # the context keys that the tool has added or changed
    logs: list[dict] = field(default_factory=list)  # {"level", "text"}
    error: dict | None = None  # {"code", "message", ...}
    warnings: list[str] = field(default_factory=list)
    effects: dict = field(default_factory=lambda: {"reads": [], "writes": []})
    remembered: list[dict] = field(default_factory=list)  # the entries that a test run would have stored
    changes: list[dict] = field(default_factory=list)  # the changes that a test run would have stored
    exception: BaseException | None = None  # the uncaught exception, with its traceback

    def check(self) -> Result:
        """Return the result if the run succeeded, or else raise its exception."""
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
    mocks: Mapping[str, Any] | None = None,
    test: bool = False,
) -> Result:
    """Run a tool once, from its source, as toolrun does, and return its Result.

    path has the meaning of ``source`` in an app file: a file, which has no modules of its own, or the folder of a tool.

    It runs every form of a tool: a body with return and await, main with a dict or with keywords, execute(input, context),
    and async functions. Each run loads the tool and the modules of its folder anew. The writes of a failed run are not
    stored. mocks contains the answers of models: a list for the name of each model. Its member recall can contain
    results in place of searches: a list for the name of each collection. With test, nothing is stored, and recall finds only what mocks
    contains: the result lists what would have been remembered. It is not a sandbox: the tool runs in this process, with all
    of Python and without limits.
    """
    file, single_file = find(Path(path))
    memory = memory or Memory({})
    schemas = {"inputSchema": input_schema, "outputSchema": output_schema}
    result = Result(ok=False)
    try:
        run = memory.begin(schemas, input=dict(input or {}), context=dict(context or {}), env=dict(env or {}), mocks=mocks, test=test or None)
    except MemoryAccessError as error:
        return _failed(result, error.fault, error)  # type: ignore[attr-defined]
    try:
        with _logging_to(result):
            ended = _execute(_Tool(file, single_file, memory, _declared(input_schema)), run)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not _raised_in(error, file):  # the user interrupts the tests
            run.rollback()
            raise
        return _failed(result, run.rollback(_fault_of(error, file))["error"], error)
    if not ended["ok"]:
        return _failed(result, ended["error"], runtime.error_of(ended["error"]))
    result.ok, result.output, result.context = True, ended["output"], ended.get("context") or {}
    result.warnings, result.effects = ended["warnings"], ended["effects"]
    result.remembered, result.changes = ended.get("remembered", []), ended.get("changes", [])
    return result


def _execute(tool: _Tool, run: Run) -> dict:
    """Run a tool to its end and return the Result of its run."""
    del runtime.operations.issued[:]  # forget the faults of earlier runs
    before = {key: runtime.values.encode(value, key, 1000) for key, value in run.context.items()}
    value = tool.output(runtime.tool_globals.Input(run.input), run.context)
    output = _encoded(value, "output")
    return run.commit(output, _changes(run.context, before), tool.warnings(value))


def _failed(result: Result, error: dict, exception: BaseException) -> Result:
    """Return the result of a failed run."""
    result.error = {key: value for key, value in error.items() if key != "id"}
    result.exception = exception
    return result


class _Tool:
    """A tool that is loaded for one run."""

    def __init__(self, path: Path, single_file: bool, memory: Memory, params: frozenset) -> None:
        self.path, self.single_file, self.memory, self.params = path, single_file, memory, params
        self.call: Any = None
        try:
            self.source = runtime.source.Source(path.read_text(encoding="utf-8-sig"), str(path))
        except SyntaxError as error:
            fault = {"code": "source_invalid", "message": f"SyntaxError: {error.msg}, at line {error.lineno}"}
            raise runtime.error_of(fault) from error

    def output(self, input: dict, context: dict) -> Any:
        """Run the tool and return its output, which is None if it exits with success."""
        try:
            return self.run(input, context)
        except SystemExit as error:
            if error.code:
                raise
            return None

    def run(self, input: dict, context: dict) -> Any:
        module = ModuleType(self.path.stem if self.source.entry else "__main__")
        names = module.__dict__
        with own_modules(self.path, self.single_file, module, runtime.modules()), runtime.connected_to(self.memory):
            names.update(runtime.tool_globals.constant_names(runtime.modules()), __file__=str(self.path))
            names[runtime.source.STAR] = _import_all(names)
            call = self._start(names, input, context)
            output = call()
            return asyncio.run(_wait(output)) if inspect.isawaitable(output) else output

    def _start(self, names: dict, input: dict, context: dict) -> Callable[[], Any]:
        """Run the top level of a tool with an entry, or prepare the call to a body."""
        run_names = runtime.tool_globals.names_of_run(input, context, self.params)
        if not self.source.entry:
            names.update(run_names)
            exec(self.source.code, names)
            return runtime.source.body_of(names) if self.source.wrapped else lambda: None
        if self.source.uses(runtime.tool_globals.RUN_NAMES | self.params):
            names.update(run_names)
            exec(self.source.code, names)
        else:
            # toolrun executes this top level once for all runs, so it cannot use memory.
            with runtime.connected_to(_NoMemory()):
                exec(self.source.code, names)
            names.update(run_names)
        self.call = call = runtime.binding.Call(self.source.entry, names[self.source.entry])
        return lambda: call(input, context, self.params)

    def warnings(self, output: Any) -> list[str]:
        reserved = runtime.tool_globals.reserved_name_warning(self.params)
        found = [reserved, self.call and self.call.warning, self.source.warning if output is None else None]
        return [text for text in found if text]


class _NoMemory:
    """A host that rejects memory calls, because no run is active."""

    def reply(self, *fields: str) -> tuple[bytes, str]:
        op = fields[1] if len(fields) > 1 else ""
        message = f"{op}: the module memory is only available in the entry function, not at the tool's top level"
        hint = "move the call into the entry function; several runs can share one execution of the top level"
        fault = {"code": "invalid_argument", "message": message, "op": op, "hint": hint}
        return b"fault", "0\n" + runtime.values.encode(fault, "fault", runtime.NESTING)


async def _wait(output: Any) -> Any:
    return await output


def _import_all(names: dict) -> Callable[[str, int], None]:
    """Return the function that replaces "from module import *" in a body."""

    def import_all(name: str, level: int) -> None:
        module = importlib.import_module("." * level + name, names.get("__package__"))
        public = getattr(module, "__all__", None) or [key for key in vars(module) if not key.startswith("_")]
        names.update((key, getattr(module, key)) for key in public)

    return import_all


def _declared(schema: Any) -> frozenset:
    return frozenset(schema.get("properties", ())) if isinstance(schema, dict) else frozenset()


def _encoded(value: Any, name: str) -> str:
    try:
        return runtime.values.encode(value, name, runtime.NESTING)
    except runtime.values.Unfit as unfit:
        message = f"the output cannot be written as JSON: {unfit.message}"
        raise runtime.error_of({"code": "output_invalid", "message": message}) from None


def _changes(context: dict, before: Mapping[str, str]) -> str:
    """Return the keys of the context that the tool added or changed, as JSON."""
    changes = []
    for key, value in context.items():
        if not isinstance(key, str):
            raise runtime.error_of({"code": "output_invalid", "message": "context has a key that is not a string"})
        text = _encoded(value, f"context.{key}")
        if before.get(key) != text:
            changes.append(f"{runtime.values.encode(key, 'key', 1)}:{text}")
    return "{" + ",".join(changes) + "}"


def _raised_in(error: BaseException, file: Path) -> bool:
    """Report whether an exception was raised by the source of the tool itself."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename == str(file)


def _fault_of(error: BaseException, file: Path) -> dict:
    """Return the fault for an uncaught exception. A MemoryAccessError keeps its code unless the tool created it."""
    if isinstance(error, MemoryAccessError):
        number = runtime.operations.number_of(error)
        if number is not None or not _from_tool(error):
            fault = {"id": str(number or ""), "code": error.code, "message": error.message, "hint": error.hint, "op": error.op}
            return {key: value for key, value in fault.items() if value}
    texts = {str(file): file.read_text(encoding="utf-8-sig")}
    fault = {"code": "tool_error", "message": runtime.failures.message_of(error, texts), "hint": runtime.failures.hint_of(error)}
    return {key: value for key, value in fault.items() if value}


def _from_tool(error: BaseException) -> bool:
    """Report whether an exception was raised in code of the tool, or in code that the tool called."""
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any(code is _Tool.run.__code__ for code in frames)


@contextlib.contextmanager
def _logging_to(result: Result) -> Iterator[None]:
    """Collect the printed and logged lines of the tool."""
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
    """A handler that collects the records of the module logging."""

    def __init__(self, logs: list[dict]) -> None:
        super().__init__()
        self.logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "asyncio" and record.module in ("selector_events", "proactor_events"):
            return  # toolrun does not provide this event loop
        levels = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))
        level = next((name for number, name in levels if record.levelno >= number), "debug")
        self.logs.append({"level": level, "text": self.format(record)})


class _Lines(io.StringIO):
    """A stream that collects its lines as log lines."""

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
