"""The exceptions of memory calls: the same classes as inside the sandbox."""

from toolrun.guest.errors import (
    ERRORS,
    AccessDeniedError,
    ConflictError,
    InvalidArgumentError,
    MemoryAccessError,
    NoSessionError,
    NotFoundError,
    NoUserError,
    QuotaExceededError,
    ReadOnlyError,
    SchemaViolationError,
    SessionEndedError,
    TooLargeError,
    UnavailableError,
    from_fault,
)

__all__ = [
    "ERRORS",
    "AccessDeniedError",
    "ConflictError",
    "InvalidArgumentError",
    "MemoryAccessError",
    "NoSessionError",
    "NoUserError",
    "NotFoundError",
    "QuotaExceededError",
    "ReadOnlyError",
    "SchemaViolationError",
    "SessionEndedError",
    "TooLargeError",
    "UnavailableError",
    "from_fault",
]
