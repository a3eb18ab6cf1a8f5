"""The exceptions of memory calls.

The exceptions are globals of a tool, and attributes of the module ``memory``. A tool catches the exceptions
that it can handle. An uncaught exception ends the run, which then fails with the exception's code.
"""

from __future__ import annotations


class MemoryAccessError(Exception):
    """The error of a memory call. Each code has a subclass. The meaning of a code is stable, the message is not.

    code        the reason, such as "conflict"
    message     the message, which ``str(error)`` also returns
    store       the name of the store, or None
    item        the key of the record, in a store with several records, or None
    violations  the violations of the store's schema: dicts with pointer, keyword and, if known, limit
    hint        a remedy, or None
    op          the operation, such as "set_content", or None
    """

    def __init__(
        self,
        code: str,
        message: str = "",
        store: str | None = None,
        violations: list[dict] | tuple = (),
        hint: str | None = None,
        op: str | None = None,
        item: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.store = store
        self.item = item
        self.violations: list[dict] = list(violations)
        self.hint = hint
        self.op = op

    def __reduce__(self) -> tuple:
        # By default, pickle and copy would call the class with only the message.
        return type(self), (self.code, self.message, self.store, self.violations, self.hint, self.op, self.item)


class NotFoundError(MemoryAccessError):
    """The store does not exist, or the tool has no grant for it."""


class AccessDeniedError(MemoryAccessError):
    """The tool's grant for the store does not include this operation, or the caller is not permitted."""


class ReadOnlyError(MemoryAccessError):
    """Only the host can write to the store, such as sessionMeta."""


class SchemaViolationError(MemoryAccessError):
    """The content violates the store's schema; ``violations`` lists the locations."""


class ConflictError(MemoryAccessError):
    """The revision of the record differs from ``if_revision``."""


class NoUserError(MemoryAccessError):
    """The store has access ``user``, and the run has no user."""


class NoSessionError(MemoryAccessError):
    """The store belongs to a session, and the run has no session."""


class SessionEndedError(MemoryAccessError):
    """The session has ended."""


class NoWorkflowError(MemoryAccessError):
    """The data belongs to a workflow, and the run has neither a workflow nor a session."""


class WorkflowEndedError(MemoryAccessError):
    """The workflow has ended."""


class NoAgentError(MemoryAccessError):
    """The data belongs to an agent, and no agent is active for the run."""


class InvalidArgumentError(MemoryAccessError):
    """The call is malformed."""


class TooLargeError(MemoryAccessError):
    """A value exceeds its limit of size or nesting."""


class QuotaExceededError(MemoryAccessError):
    """The app has reached its quota of bytes or records."""


class UnavailableError(MemoryAccessError):
    """The storage cannot be reached."""


# The class for each fault code. For an unknown code of a newer host, MemoryAccessError itself is
# raised.
ERRORS: dict[str, type[MemoryAccessError]] = {
    "not_found": NotFoundError,
    "access_denied": AccessDeniedError,
    "read_only": ReadOnlyError,
    "schema_violation": SchemaViolationError,
    "conflict": ConflictError,
    "no_user": NoUserError,
    "no_session": NoSessionError,
    "session_ended": SessionEndedError,
    "no_workflow": NoWorkflowError,
    "workflow_ended": WorkflowEndedError,
    "no_agent": NoAgentError,
    "invalid_argument": InvalidArgumentError,
    "too_large": TooLargeError,
    "quota_exceeded": QuotaExceededError,
    "unavailable": UnavailableError,
}


def from_fault(fault: dict) -> MemoryAccessError:
    """Create the exception for a fault, which is the JSON object of a failed call."""
    code = fault.get("code", "internal")
    return ERRORS.get(code, MemoryAccessError)(
        code,
        fault.get("message", ""),
        store=fault.get("store"),
        violations=fault.get("violations") or (),
        hint=fault.get("hint"),
        op=fault.get("op"),
        item=fault.get("item"),
    )
