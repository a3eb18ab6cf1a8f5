"""What a tool finds in its globals. In a tool, for an editor and a type checker alone:

    from typing import TYPE_CHECKING
    if TYPE_CHECKING:
        from toolrun.tool import *
"""

from typing import Any

from toolrun import memory as memory
from toolrun.errors import (
    AccessDeniedError as AccessDeniedError,
    ConflictError as ConflictError,
    InvalidArgumentError as InvalidArgumentError,
    MemoryAccessError as MemoryAccessError,
    NoSessionError as NoSessionError,
    NoUserError as NoUserError,
    NotFoundError as NotFoundError,
    QuotaExceededError as QuotaExceededError,
    ReadOnlyError as ReadOnlyError,
    SchemaViolationError as SchemaViolationError,
    SessionEndedError as SessionEndedError,
    TooLargeError as TooLargeError,
    UnavailableError as UnavailableError,
)

class Environment(dict[str, str]):
    """The variables of the tool, by item or by attribute."""

    def __getattr__(self, name: str) -> str: ...

# What the tool was called with.
input: dict[str, Any]
# What it knows about its run: sessionId, userId, appId, runId, env, message, steps. Keys that it adds come back.
context: dict[str, Any]
env: Environment
