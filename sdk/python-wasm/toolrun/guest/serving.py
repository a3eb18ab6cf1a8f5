"""The server of the guest: each call to ``serve`` handles one request of the host."""

import random
import sys
from _random import Random
from posix import urandom

from . import environ, logs, operations
from .channel import receive, send
from .failures import describe
from .globals import Input, reserved_name_warning
from .nondeterminism import watch
from .tool import Tool, freeze
from .values import Unfit, decode, encode, quote

_tool = None
_texts = {}  # the tool's files by their names in tracebacks
_limits = None  # the limits of the previous request: the maximum nesting of calls and of values
_limit_recursion = sys.setrecursionlimit
_frame = sys._getframe
_state = random.getstate


def serve():
    """Handle the next request of the host. Return False if there is none."""
    kind, _, text = receive().partition(b"\n")
    if not kind:
        return False
    try:
        _ACTIONS[kind.decode()](decode(text.decode()))
    except BaseException as error:
        _fail(error)
    return True


def _ping(request):
    send("done", encode(request, "request", 10))


# The recursion limit while a tool is loaded.
_LOADING_DEPTH = 1000


def _load(request):
    global _tool
    _limit_recursion(_LOADING_DEPTH)
    _texts[request["path"]] = request["code"]
    _tool = Tool(request, _texts)
    warning = reserved_name_warning(_tool.params)
    if warning:
        logs.warn(warning)
    freeze()
    report = {"once": _tool.starts_once(), "warning": _tool.source.warning}
    if request.get("review"):
        from .review import review  # only the check of an app needs it

        report["review"] = review(_tool, request["operations"])
    send("done", encode(report, "tool", 10))


def _start(request):
    """Run the top level of the tool.

    If the top level runs for a single run, it gets the variables and random numbers of that run. On
    request, this function searches for uses of the time and of random numbers, which makes the top
    level slower. If the top level runs for all runs, it gets no variables, and the reply reports
    whether it used any.
    """
    _limit(request)
    if request["per_run"]:
        environ.fill(request["env"])
        _reseed()
    before, location, environ_used = _state(), "", False
    if request["watch"]:
        location = watch(_tool.start, _texts)
    elif request["per_run"]:
        _tool.start()
    else:
        environ_used = environ.watch(_tool.start)
    random_used = _state() != before
    logs.flush()
    if not request["per_run"]:
        freeze()
    send("done", encode({"random": random_used, "location": location, "environ": environ_used}, "tool", 10))


def _run(request):
    _limit(request)
    _reseed()
    input, context = Input(request["input"]), request["context"]
    environ.fill(context.get("env"))
    before = encode(context, "context", _ANY) if context else "{}"
    try:
        value = _tool.run(input, context)
    except SystemExit as error:
        if error.code:
            raise
        value = None
    _answer(value, context, before)


# A nesting limit that is sufficient for every value from the host.
_ANY = 10_000


def _answer(value, context, before):
    """Send the tool's output to the host, and the keys of its context that it added or changed."""
    logs.flush()
    warning = _tool.input_warning()
    if warning:
        send("warn", quote(warning))
    try:
        output = encode(value, "output", operations.nesting)
        changes = _changes(context, before)
    except Unfit as unfit:
        send("unfit", quote(unfit.message))
    else:
        send("answer", output, changes)


def _changes(context, before):
    if not context:  # the usual case; a removed key is not a change
        return "{}"
    try:
        if encode(context, "context", _ANY) == before:
            return "{}"
    except Unfit:
        pass
    was = decode(before)
    changes = []
    for key, value in context.items():
        if not isinstance(key, str):
            raise Unfit("context has a key that is not a string")
        text = encode(value, f"context.{key}", operations.nesting)
        if key not in was or encode(was[key], key, _ANY) != text:
            changes.append(f"{encode(key, 'context', 1)}:{text}")
    return "{" + ",".join(changes) + "}"


def _fail(error):
    logs.flush()
    report = describe(error, _texts, _tool and _tool.location())
    report["hint"] = report["hint"] or _tool and _tool.input_warning() or ""
    send("error", encode(report, "error", 10))


def _limit(request):
    """Limit the nesting of the tool's calls, counted from here, and of its values."""
    global _limits
    if (request["depth"], request["nesting"]) == _limits:
        return  # the snapshot that the run starts from has the same limits
    _limits = request["depth"], request["nesting"]
    depth, frame = 0, _frame()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    maximum = depth + request["depth"]
    operations.nesting = request["nesting"]
    _limit_recursion(maximum)
    sys.setrecursionlimit = lambda limit: _limit_recursion(min(limit, maximum))


def _reseed():
    """Seed the module random for this run."""
    Random.seed(random._inst, int.from_bytes(urandom(32)))


_ACTIONS = {"ping": _ping, "load": _load, "start": _start, "run": _run}
