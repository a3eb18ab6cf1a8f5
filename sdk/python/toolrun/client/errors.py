"""The errors of failed calls. Each fault code of toolrun has a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Sequence

if TYPE_CHECKING:
    from toolrun.client.models import Fault, ProblemDetail, Violation


class ToolrunError(Exception):
    """The error of a failed call: an error response, no response, or the fault of a run.

    The meaning of a code is stable, the message is not. Errors do not contain the client's key. A code that this
    version does not know has no subclass.

    code         the fault code, such as "not_found"
    message      the message
    hint         a remedy, or None
    status       the HTTP status, or 0 if there was no response; 200 for the fault of a run
    store        the name of the store, or None
    item         the key of the record in a store with several records, or None
    violations   the violations of a schema
    details      the parts of the request that violate the API
    run_id       the id of the run or turn in which the error occurred, or None
    outcome      "unknown" if there was no response although the service has possibly executed the request
    retry_after  the delay in seconds before a retry, if the service has requested one
    fault        the fault of a failed run or turn, with its location in the source, or None
    """

    code: str = ""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: Optional[str] = None,
        status: int = 0,
        store: Optional[str] = None,
        item: Optional[str] = None,
        violations: Sequence[Violation] = (),
        details: Sequence[ProblemDetail] = (),
        run_id: Optional[str] = None,
        outcome: Optional[str] = None,
        retry_after: Optional[float] = None,
        fault: Optional[Fault] = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.hint = hint
        self.status = status
        self.store = store
        self.item = item
        self.violations = list(violations)
        self.details = list(details)
        self.run_id = run_id
        self.outcome = outcome
        self.retry_after = retry_after
        self.fault = fault

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class NotFoundError(ToolrunError):
    """The store, block, tool or other thing does not exist, or is not granted."""

    code = "not_found"


class AccessDeniedError(ToolrunError):
    """The key or the grants do not permit the access."""

    code = "access_denied"


class ReadOnlyError(ToolrunError):
    """Only the host can write the data."""

    code = "read_only"


class SchemaViolationError(ToolrunError):
    """The content violates the schema of the store; ``violations`` lists the locations."""

    code = "schema_violation"


class ConflictError(ToolrunError):
    """The data has changed, or the idempotency key was used for another request."""

    code = "conflict"


class NoUserError(ToolrunError):
    """The data belongs to a user, but the request has none."""

    code = "no_user"


class NoSessionError(ToolrunError):
    """The data belongs to a session, but the request has none."""

    code = "no_session"


class SessionEndedError(ToolrunError):
    """The session has ended."""

    code = "session_ended"


class InvalidArgumentError(ToolrunError):
    """The request is malformed. If the status is 0, it was not sent."""

    code = "invalid_argument"


class TooLargeError(ToolrunError):
    """A value exceeds its size or depth limit."""

    code = "too_large"


class QuotaExceededError(ToolrunError):
    """A quota is exhausted."""

    code = "quota_exceeded"


class UnavailableError(ToolrunError):
    """The service or its storage cannot be reached, or is busy."""

    code = "unavailable"


class ToolError(ToolrunError):
    """The tool failed."""

    code = "tool_error"


class InputInvalidError(ToolrunError):
    """The input does not match the input schema of the tool."""

    code = "input_invalid"


class OutputInvalidError(ToolrunError):
    """The output does not match the output schema of the tool."""

    code = "output_invalid"


class TimeLimitError(ToolrunError, TimeoutError):
    """The run exceeded its time limit, or the service did not respond in time."""

    code = "timeout"


class MemoryLimitError(ToolrunError):
    """The run exceeded its memory limit."""

    code = "memory_limit"


class StackLimitError(ToolrunError):
    """The run exceeded its limit on call depth or nesting."""

    code = "stack_limit"


class OutputLimitError(ToolrunError):
    """The output exceeds its size limit."""

    code = "output_limit"


class LogLimitError(ToolrunError):
    """The run exceeded its limit on log output."""

    code = "log_limit"


class CallLimitError(ToolrunError):
    """The run exceeded its limit on calls to the host."""

    code = "call_limit"


class SourceInvalidError(ToolrunError):
    """The code of the tool cannot be loaded."""

    code = "source_invalid"


class ABIMismatchError(ToolrunError):
    """The plug-in was built for another version of the ABI."""

    code = "abi_mismatch"


class RunCancelledError(ToolrunError):
    """The run was canceled."""

    code = "cancelled"


class InternalError(ToolrunError):
    """The service has a bug."""

    code = "internal"


class NoWorkflowError(ToolrunError):
    """The data belongs to a workflow, but the request has neither a workflow nor a session."""

    code = "no_workflow"


class WorkflowEndedError(ToolrunError):
    """The workflow has ended."""

    code = "workflow_ended"


class NoAgentError(ToolrunError):
    """The data belongs to a user and an agent, but the request has no agent."""

    code = "no_agent"


ERRORS: dict[str, type[ToolrunError]] = {c.code: c for c in ToolrunError.__subclasses__()}


def class_of(code: str) -> type[ToolrunError]:
    """Return the class of the errors with a code."""
    return ERRORS.get(code, ToolrunError)


def of_fault(fault: Fault, run_id: str) -> ToolrunError:
    """Return the error for the fault of a run or turn."""
    return class_of(fault.code)(
        fault.code,
        fault.message,
        hint=fault.hint,
        status=200,
        store=fault.store,
        item=fault.item,
        violations=fault.violations,
        run_id=run_id,
        outcome=fault.outcome,
        fault=fault,
    )
