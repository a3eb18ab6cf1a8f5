"""Serves the host: each call of ``serve`` does one thing that it asks for."""

import random
import sys
from _random import Random
from posix import urandom

from . import logs, operations, variables
from .channel import receive, send
from .failures import describe
from .tool import Tool, freeze
from .values import Unfit, decode, encode, quote
from .watching import watch
from .world import Input, warning_about

_tool = None
_texts = {}  # the author's files, by the names that tracebacks give them
_limits = None  # of the request before: how deep calls and values may be
_limit_recursion = sys.setrecursionlimit
_frame = sys._getframe
_state = random.getstate


def serve():
    """Do what the host asks for next. False where there is nothing more."""
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


# How deep calls may be nested while a tool is loaded.
_LOADING = 1000


def _load(request):
    global _tool
    _limit_recursion(_LOADING)
    _texts[request["path"]] = request["code"]
    _tool = Tool(request, _texts)
    about_names = warning_about(_tool.params)
    if about_names:
        logs.warn(about_names)
    freeze()
    answer = {"once": _tool.starts_once(), "warning": _tool.source.warning}
    if request.get("review"):
        from .review import review  # which only a check of an app needs

        answer["review"] = review(_tool, request["operations"])
    send("done", encode(answer, "tool", 10))


def _start(request):
    """Run the top level. Where it is for one run alone, it gets random numbers of that run, and is watched if that is
    asked for: it makes it slower. Where it is for all runs, it has no variables, and the host hears whether it used them."""
    _limit(request)
    if request["alone"]:
        variables.fill(request["env"])
        _reseed()
    before, place, environ = _state(), "", False
    if request["watch"]:
        place = watch(_tool.start, _texts)
    elif request["alone"]:
        _tool.start()
    else:
        environ = variables.watch(_tool.start)
    random_was_used = _state() != before
    logs.flush()
    if not request["alone"]:
        freeze()
    send("done", encode({"random": random_was_used, "location": place, "environ": environ}, "tool", 10))


def _run(request):
    _limit(request)
    _reseed()
    input, context = Input(request["input"]), request["context"]
    variables.fill(context.get("env"))
    before = encode(context, "context", _ANY) if context else "{}"
    try:
        value = _tool.run(input, context)
    except SystemExit as error:
        if error.code:
            raise
        value = None
    _answer(value, context, before)


# As deep as what the host itself may hand over.
_ANY = 10_000


def _answer(value, context, before):
    """Tell the host what the tool answers, and which keys of its context it added or changed."""
    logs.flush()
    doubt = _tool.doubt()
    if doubt:
        send("warn", quote(doubt))
    try:
        answer = encode(value, "output", operations.nesting)
        changes = _changes(context, before)
    except Unfit as unfit:
        send("unfit", quote(unfit.message))
    else:
        send("answer", answer, changes)


def _changes(context, before):
    if not context:  # as in most runs; what is gone from it is no change
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
            raise Unfit("context has a key that is no text")
        text = encode(value, f"context.{key}", operations.nesting)
        if key not in was or encode(was[key], key, _ANY) != text:
            changes.append(f"{encode(key, 'context', 1)}:{text}")
    return "{" + ",".join(changes) + "}"


def _fail(error):
    logs.flush()
    told = describe(error, _texts, _tool and _tool.place())
    told["hint"] = told["hint"] or _tool and _tool.doubt() or ""
    send("error", encode(told, "error", 10))


def _limit(request):
    """Bound how deep the tool may call, from here, and how deep its values may be."""
    global _limits
    if (request["depth"], request["nesting"]) == _limits:
        return  # as a run finds them that begins with what another, or the top level, left
    _limits = request["depth"], request["nesting"]
    depth, frame = 0, _frame()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    most = depth + request["depth"]
    operations.nesting = request["nesting"]
    _limit_recursion(most)
    sys.setrecursionlimit = lambda limit: _limit_recursion(min(limit, most))


def _reseed():
    """Give the module random numbers of this run."""
    Random.seed(random._inst, int.from_bytes(urandom(32)))


_ACTIONS = {"ping": _ping, "load": _load, "start": _start, "run": _run}
