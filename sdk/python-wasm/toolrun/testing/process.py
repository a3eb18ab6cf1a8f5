"""The process ``toolrun double``, which serves the memory of all tests in a Python process."""

from __future__ import annotations

import atexit
import itertools
import json
import os
import shutil
import subprocess
import threading
from collections import deque
from typing import Any

from toolrun.errors import from_fault

_EXIT_TIMEOUT = 5  # seconds


class ToolrunError(RuntimeError):
    """The error for a program toolrun that cannot be started or has ended."""


def find() -> str:
    """Return the path of the program toolrun: the value of the variable TOOLRUN, or else the program on PATH."""
    named = os.environ.get("TOOLRUN")
    if named:
        if shutil.which(named) is None:
            raise ToolrunError(f"the variable TOOLRUN is {named!r}, which is not a program; set the variable to the path of toolrun")
        return named
    found = shutil.which("toolrun")
    if found is None:
        raise ToolrunError(
            "the program toolrun, which tests of tools require, is not on PATH; "
            "install toolrun, or set the variable TOOLRUN to its path"
        )
    return found


class Process:
    """A process of ``toolrun double``. The first request starts it. Safe for concurrent use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen | None = None
        self._owner = 0  # the id of the process that started the child; a forked process starts another child
        self._names = itertools.count(1)
        self._forgotten: deque[str] = deque()

    def name(self) -> str:
        """Return an unused name for a memory."""
        return f"m{next(self._names)}"

    def forget(self, name: str) -> None:
        """Close a memory before the next request. A finalizer can call it at any time."""
        self._forgotten.append(name)

    def request(self, do: str, **members: str) -> Any:
        """Send a request with JSON texts as its members, and return the result. A fault is raised as an exception."""
        with self._lock:
            child = self._started()
            while self._forgotten:
                self._ask(child, {"do": '"close"', "memory": json.dumps(self._forgotten.popleft())})
            reply = self._ask(child, {"do": json.dumps(do), **members})
        if reply["ok"]:
            return reply.get("result")
        error = from_fault(reply["error"])
        error.fault = reply["error"]  # type: ignore[attr-defined]
        raise error

    def _started(self) -> subprocess.Popen:
        if self._child is None or self._owner != os.getpid():
            # In a separate session, the child does not receive an interrupt from the terminal.
            self._child = subprocess.Popen(
                [find(), "double"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
            self._owner = os.getpid()
            self._forgotten.clear()
        return self._child

    def _ask(self, child: subprocess.Popen, members: dict) -> dict:
        line = ",".join(f'"{name}":{text}' for name, text in members.items())
        try:
            child.stdin.write(b"{" + line.encode() + b"}\n")  # type: ignore[union-attr]
            child.stdin.flush()  # type: ignore[union-attr]
            reply = child.stdout.readline()  # type: ignore[union-attr]
        except BrokenPipeError:
            reply = b""
        except BaseException:  # interrupted: a late reply would be mistaken for the reply to the next request
            self._end(child)
            raise
        if not reply.endswith(b"\n"):
            code = self._end(child)
            raise ToolrunError(f"toolrun double ended with exit code {code}; see the messages on standard error")
        return json.loads(reply)

    def _end(self, child: subprocess.Popen) -> int | None:
        """End the process and return its exit code. The process ends when its input does."""
        self._child = None
        for pipe in (child.stdin, child.stdout):
            try:
                pipe.close()  # type: ignore[union-attr]
            except OSError:
                pass  # the process has already ended
        try:
            return child.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            child.kill()
            return child.wait()

    def close(self) -> None:
        """End the process with all its memories. A later request starts another process."""
        with self._lock:
            if self._child is not None and self._owner == os.getpid():
                self._end(self._child)


shared = Process()
atexit.register(shared.close)
