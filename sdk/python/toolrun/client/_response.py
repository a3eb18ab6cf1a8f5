"""The interpretation of responses, for both clients."""

from __future__ import annotations

import json
import re
from email.message import Message
from typing import Any, Iterator, Optional, TypeVar

import httpx

from toolrun.client._decode import decode
from toolrun.client._request import Request
from toolrun.client.errors import TimeLimitError, ToolrunError, UnavailableError, class_of
from toolrun.client.models import ProblemDetail, Violation

T = TypeVar("T")

MAX_RESPONSE_BYTES = 64 << 20  # larger than the limits of the service
MAX_RETRY_SECONDS = 30.0  # a request is not retried if the service requests a longer delay

# The fault codes of error responses without a problem document, such as the responses of a proxy.
_FOREIGN = {400: "invalid_argument", 401: "access_denied", 403: "access_denied", 404: "not_found", 407: "access_denied", 413: "too_large"}

# The errors of httpx that occur before anything is sent.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.LocalProtocolError)


def is_media(response: httpx.Response, media: str) -> bool:
    """Report whether a response has a media type."""
    return media_of(response).split(";")[0].strip().lower() == media


def media_of(response: httpx.Response) -> str:
    """Return the header Content-Type of a response, or ""."""
    text: str = response.headers.get("Content-Type", "")
    return text


def value_of(response: httpx.Response, to: type[T], content: bytes) -> T:
    """Return the content of a successful response, decoded as a type."""
    try:
        return decode(to, json.loads(content))
    except (TypeError, ValueError, RecursionError):
        raise foreign(response.status_code) from None


def error_of(response: httpx.Response, content: bytes) -> ToolrunError:
    """Return the error for an error response."""
    problem = None
    if is_media(response, "application/problem+json"):
        try:
            problem = json.loads(content)
        except (ValueError, RecursionError):
            pass  # treat an invalid document as missing
    error = error_of_problem(problem, response.status_code)
    after = response.headers.get("Retry-After", "")
    error.retry_after = float(after) if re.fullmatch(r"\d{1,6}", after) else None
    return error


def error_of_problem(problem: Any, status: int) -> ToolrunError:
    """Return the error for a problem document (RFC 9457)."""
    if not isinstance(problem, dict) or not isinstance(problem.get("code"), str):
        return foreign(status)
    try:
        details = decode(list[ProblemDetail], problem.get("errors"))
        violations = decode(list[Violation], problem.get("violations"))
    except TypeError:
        return foreign(status)
    message = str(problem.get("detail", ""))
    if details:
        message += ": " + "; ".join(f"{d.message} ({d.location})" if d.location else d.message for d in details)
    return class_of(problem["code"])(
        problem["code"],
        message,
        hint=problem.get("hint"),
        status=status,
        store=problem.get("store"),
        item=problem.get("item"),
        violations=violations,
        details=details,
        run_id=problem.get("run_id"),
        outcome=problem.get("outcome"),
    )


def foreign(status: int) -> ToolrunError:
    """Return the error for a response that is not from a toolrun service."""
    code = _FOREIGN.get(status, "unavailable")
    return class_of(code)(
        code,
        f"the response with status {status} is not from a toolrun service",
        hint="check the URL, and whether a proxy sent the response",
        status=status,
    )


def too_large(response: httpx.Response) -> ToolrunError:
    """Return the error for a response that exceeds the limit."""
    return class_of("too_large")("too_large", f"the response exceeds {MAX_RESPONSE_BYTES >> 20} MiB", status=response.status_code)


def unanswered(error: Exception, request: Request, key: str, response: Optional[httpx.Response] = None) -> ToolrunError:
    """Return the error for a missing or incomplete response. The error omits the httpx error, which has the request."""
    sent = not isinstance(error, _UNSENT)
    outcome = "unknown" if sent and request.method != "GET" else None
    status = response.status_code if response is not None else 0
    if isinstance(error, httpx.TimeoutException):
        return TimeLimitError("timeout", "the service did not respond in time", outcome=outcome, status=status)
    what = "the response ended early" if response is not None else "cannot reach the service"
    reason = str(error) or type(error).__name__
    if key:
        reason = reason.replace(key, "...")
    return UnavailableError("unavailable", f"{what}: {reason}", outcome=outcome, status=status)


def retry_delay(request: Request, error: ToolrunError, attempts: int, retries: int) -> Optional[float]:
    """Return the delay before the next attempt, or None if there is none."""
    if not request.repeatable or attempts > retries or error.status not in (429, 503):
        return None
    return error.retry_after if error.retry_after and error.retry_after <= MAX_RETRY_SECONDS else None


def filename_of(response: httpx.Response) -> Optional[str]:
    """Return the file name of a download (RFC 6266), or None if the response is not a download."""
    header = Message()
    header["Content-Disposition"] = response.headers.get("Content-Disposition", "")
    return (header.get_filename() or "") if header.get_content_disposition() == "attachment" else None


class EventParser:
    """A parser of server-sent events (HTML Living Standard, section 9.2.6). Lines end with LF or CRLF."""

    def __init__(self) -> None:
        self._size = 0
        self._rest = b""
        self._name = ""
        self._data: list[str] = []

    def accepts(self, chunk: bytes) -> bool:
        """Report whether the stream with the next chunk is within the limit."""
        self._size += len(chunk)
        return self._size <= MAX_RESPONSE_BYTES

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        """Yield the names and data of the events that a chunk completes."""
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            field, _, value = line.decode(errors="replace").rstrip("\r").partition(":")
            value = value[1:] if value.startswith(" ") else value
            if line in (b"", b"\r"):
                if self._data:  # events without data are ignored
                    yield self._name, "\n".join(self._data)
                self._name, self._data = "", []
            elif field == "event":
                self._name = value
            elif field == "data":
                self._data.append(value)
