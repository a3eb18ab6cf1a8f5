"""Tests of tools: toolrun's own memory, in a separate process, and a function that runs a tool.

    from toolrun.testing import Memory, run_tool

    memory = Memory({"visits": {"access": "user", "strict": True, "schema": {...}}}, user="ann")
    memory.put("visits", {"count": 1})
    result = run_tool("visit.py", {"page": "/"}, memory).check()
    assert memory.content("visits") == {"count": 2}
"""

from toolrun.errors import (
    AccessDeniedError,
    ConflictError,
    InvalidArgumentError,
    MemoryAccessError,
    NoAgentError,
    NoSessionError,
    NotFoundError,
    NoUserError,
    NoWorkflowError,
    QuotaExceededError,
    ReadOnlyError,
    SchemaViolationError,
    SessionEndedError,
    TooLargeError,
    UnavailableError,
    WorkflowEndedError,
)
from toolrun.testing.double import Limits, Memory
from toolrun.testing.process import ToolrunError
from toolrun.testing.tool import Result, run_tool

__all__ = [
    "AccessDeniedError",
    "ConflictError",
    "InvalidArgumentError",
    "Limits",
    "Memory",
    "MemoryAccessError",
    "NoAgentError",
    "NoSessionError",
    "NoUserError",
    "NoWorkflowError",
    "NotFoundError",
    "QuotaExceededError",
    "ReadOnlyError",
    "Result",
    "SchemaViolationError",
    "SessionEndedError",
    "TooLargeError",
    "ToolrunError",
    "UnavailableError",
    "WorkflowEndedError",
    "run_tool",
]
