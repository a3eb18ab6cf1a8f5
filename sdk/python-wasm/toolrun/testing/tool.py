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
from toolrun.testing import half
from toolrun.testing.double import Memory, Run
from toolrun.testing.folder import find
from toolrun.testing.modules import own_modules


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
    schemas = {"inputSchema": input_schema, "outputSchema": output_schema}
    result = Result(ok=False)
    try:
        run = memory.begin(schemas, input=dict(input or {}), context=dict(context or {}), env=dict(env or {}))
    except MemoryAccessError as error:
        return _failed(result, error.fault, error)  # type: ignore[attr-defined]
    try:
        with _logging_to(result):
            ended = _execute(_Tool(file, alone, memory, _declared(input_schema)), run)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not _raised_in(error, file):  # somebody stops the tests
            run.rollback()
            raise
        return _failed(result, run.rollback(_fault_of(error, file))["error"], error)
    if not ended["ok"]:
        return _failed(result, ended["error"], half.error_of(ended["error"]))
    result.ok, result.output, result.context = True, ended["output"], ended.get("context") or {}
    result.warnings, result.effects = ended["warnings"], ended["effects"]
    return result


def _execute(tool: _Tool, run: Run) -> dict:
    """Run a tool to its end, and return the Result of its run."""
    del half.operations.issued[:]  # what was raised in an earlier run
    before = {key: half.values.encode(value, key, 1000) for key, value in run.context.items()}
    answer = tool.answer(half.world.Input(run.input), run.context)
    output = _encoded(answer, "output")
    return run.commit(output, _changes(run.context, before), tool.warnings(answer))


def _failed(result: Result, error: dict, exception: BaseException) -> Result:
    """Return the result of a run that failed."""
    result.error = {key: value for key, value in error.items() if key != "id"}
    result.exception = exception
    return result


class _Tool:
    """A tool that was loaded for one run."""

    def __init__(self, path: Path, alone: bool, memory: Memory, params: frozenset) -> None:
        self.path, self.alone, self.memory, self.params = path, alone, memory, params
        self.call: Any = None
        try:
            self.source = half.source.Source(path.read_text(encoding="utf-8-sig"), str(path))
        except SyntaxError as error:
            told = {"code": "source_invalid", "message": f"SyntaxError: {error.msg}, at line {error.lineno}"}
            raise half.error_of(told) from error

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
        with own_modules(self.path, self.alone, module, half.memory()), half.speaking_to(self.memory):
            names.update(half.world.constant_names(half.memory()), __file__=str(self.path))
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
        return b"fault", "0\n" + half.values.encode(told, "fault", half.NESTING)


async def _wait(answer: Any) -> Any:
    return await answer


def _import_all(names: dict) -> Callable[[str, int], None]:
    """Make what stands in for "from module import *" in a body."""

    def import_all(name: str, level: int) -> None:
        module = importlib.import_module("." * level + name, names.get("__package__"))
        public = getattr(module, "__all__", None) or [key for key in vars(module) if not key.startswith("_")]
        names.update((key, getattr(module, key)) for key in public)

    return import_all


def _declared(schema: Any) -> frozenset:
    return frozenset(schema.get("properties", ())) if isinstance(schema, dict) else frozenset()


def _encoded(value: Any, name: str) -> str:
    try:
        return half.values.encode(value, name, half.NESTING)
    except half.values.Unfit as unfit:
        message = f"the output cannot be written as JSON: {unfit.message}"
        raise half.error_of({"code": "output_invalid", "message": message}) from None


def _changes(context: dict, before: Mapping[str, str]) -> str:
    """Return, as JSON, the keys of the context that the tool added or changed."""
    changes = []
    for key, value in context.items():
        if not isinstance(key, str):
            raise half.error_of({"code": "output_invalid", "message": "context has a key that is no text"})
        text = _encoded(value, f"context.{key}")
        if before.get(key) != text:
            changes.append(f"{half.values.encode(key, 'key', 1)}:{text}")
    return "{" + ",".join(changes) + "}"


def _raised_in(error: BaseException, file: Path) -> bool:
    """Whether an exception came from the text of a tool, and not from what runs it."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename == str(file)


def _fault_of(error: BaseException, file: Path) -> dict:
    """Return an uncaught exception as the host takes it. A fault keeps its code only where the tool did not make it."""
    if isinstance(error, MemoryAccessError):
        number = half.operations.number_of(error)
        if number is not None or not _from_tool(error):
            told = {"id": str(number or ""), "code": error.code, "message": error.message, "hint": error.hint, "op": error.op}
            return {key: value for key, value in told.items() if value}
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
