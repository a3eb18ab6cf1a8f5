"""What a refused memory call raises.

A tool finds these names as globals and in the module ``memory``. They are ordinary exceptions, so a tool catches
what it can handle and lets the rest through: a fault that nobody caught ends the run with its own code.
"""

from __future__ import annotations


class MemoryAccessError(Exception):
    """A memory call that was refused. Each code has a subclass; ``code`` never changes its meaning, the text may.

    code        says why, such as "conflict"
    message     the text for people, as ``str(error)`` gives it
    store       the store that was asked for, or None
    item        the record of the store that it is about, in a store with many, or None
    violations  where a content does not fit its schema: dicts with pointer, keyword and, where told, limit
    hint        what to do about it, or None
    op          the call that was refused, such as "set_content", or None
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
        # Exception would be made anew from its one argument, the message.
        return type(self), (self.code, self.message, self.store, self.violations, self.hint, self.op, self.item)


class NotFoundError(MemoryAccessError):
    """There is no such store, or the tool was not granted any access to it."""


class AccessDeniedError(MemoryAccessError):
    """The store exists, but not with this verb, or not for this caller."""


class ReadOnlyError(MemoryAccessError):
    """A write to what only the host writes, such as sessionMeta."""


class SchemaViolationError(MemoryAccessError):
    """The content does not fit the store's schema; ``violations`` says where."""


class ConflictError(MemoryAccessError):
    """The record has another revision than ``if_revision`` asks for."""


class NoUserError(MemoryAccessError):
    """A store of access ``user``, and no user is known."""


class NoSessionError(MemoryAccessError):
    """A store that lives with a session, and no session is known."""


class SessionEndedError(MemoryAccessError):
    """The session is over."""


class InvalidArgumentError(MemoryAccessError):
    """The call itself is malformed."""


class TooLargeError(MemoryAccessError):
    """A value is larger or deeper than its limit."""


class QuotaExceededError(MemoryAccessError):
    """The app holds all the bytes or records that it may."""


class UnavailableError(MemoryAccessError):
    """The storage cannot be reached."""


# The class of each code. Another code, which a later host may know, raises MemoryAccessError itself.
ERRORS: dict[str, type[MemoryAccessError]] = {
    "not_found": NotFoundError,
    "access_denied": AccessDeniedError,
    "read_only": ReadOnlyError,
    "schema_violation": SchemaViolationError,
    "conflict": ConflictError,
    "no_user": NoUserError,
    "no_session": NoSessionError,
    "session_ended": SessionEndedError,
    "invalid_argument": InvalidArgumentError,
    "too_large": TooLargeError,
    "quota_exceeded": QuotaExceededError,
    "unavailable": UnavailableError,
}


def from_fault(fault: dict) -> MemoryAccessError:
    """Make the error of a fault, the JSON object with which the host refuses a call."""
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
