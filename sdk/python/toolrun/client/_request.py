"""The requests of both clients, as values: what is sent, and whether it can be sent again."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from pathlib import PurePath
from typing import Any, BinaryIO, Mapping, Optional, Union
from urllib.parse import quote, urlsplit

import httpx

from toolrun.client.errors import InvalidArgumentError

PREFIX = "/api/v1"
JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
EVENTS = "text/event-stream"

Time = Union[datetime, str]

_HEADER = re.compile(r"[!-~]([ -~]*[!-~])?")


@dataclass
class Request:
    """A request to the service. ``body`` is its content, and ``files`` is an upload in the form that httpx expects."""

    method: str
    path: tuple[str, ...]
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: Optional[bytes] = None
    files: Any = None
    repeatable: bool = False
    app: bool = True  # whether the operation belongs to an app

    def with_json(self, value: Any, media: str = JSON) -> Request:
        """Set the body."""
        self.body = encode(value)
        self.headers["Content-Type"] = media
        return self

    def with_key(self, idempotency_key: Optional[str]) -> Request:
        """Make a run idempotent. It can then be sent again."""
        if idempotency_key is not None:
            self.headers["Idempotency-Key"] = checked_header(idempotency_key)
            self.repeatable = True
        return self

    def with_revision(self, if_revision: Optional[int]) -> Request:
        """Set the revision that a write requires. A retry of the write would conflict with its first attempt."""
        if if_revision is not None:
            self.repeatable = False
            name, value = ("If-None-Match", "*") if if_revision == 0 else ("If-Match", f'"{if_revision}"')
            self.headers[name] = value
        return self


def get(*path: str, **query: Any) -> Request:
    """Return a request that reads."""
    return Request("GET", path, query, repeatable=True)


def url_of(base: str, app: str, request: Request) -> str:
    """Return the URL of a request."""
    text = base + PREFIX
    for segment in request.path:
        # Proxies and routers remove or resolve these segments.
        if not isinstance(segment, str) or segment in ("", ".", ".."):
            raise InvalidArgumentError("invalid_argument", f"the text {segment!r} is not a valid name or id")
        text += "/" + _quoted(segment)
    query = present({**request.query, "app": app if request.app else None})
    return f"{text}?{'&'.join(f'{name}={_quoted(value)}' for name, value in query.items())}" if query else text


def _quoted(text: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise InvalidArgumentError("invalid_argument", f"the text {text!r} is not valid Unicode") from None


def parse_base(url: str) -> str:
    """Check the URL of a service. Errors do not quote it, because it can contain a password."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        has_user = "@" in parts.netloc
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        valid = has_user = False
    if not valid:
        raise InvalidArgumentError("invalid_argument", "the argument url must be an HTTP address such as https://tools.example")
    if has_user or "?" in url or "#" in url:
        raise InvalidArgumentError("invalid_argument", "the argument url must not contain a user name, a query or a fragment")
    return url.rstrip("/")


def checked_header(value: str) -> str:
    """Return the value of a header if it is valid."""
    if not _HEADER.fullmatch(value):
        raise InvalidArgumentError("invalid_argument", "a value contains characters that are invalid in a header")
    return value


def present(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of a query that have a value, as text."""
    return {name: _text(value) for name, value in values.items() if value is not None and value != "" and value is not False}


def upload_of(content: Union[bytes, BinaryIO], name: Optional[str], media_type: str) -> tuple[str, Any, str]:
    """Return a file in the form that httpx expects. Its default name is the name of an open file."""
    path = name or getattr(content, "name", None)
    if not isinstance(path, str) or not PurePath(path).name:
        raise InvalidArgumentError("invalid_argument", "an upload must have a name")
    return (name or PurePath(path).name, content, media_type)


def given(**members: Any) -> dict[str, Any]:
    """Return the members of a body that have a value."""
    return {name: value for name, value in members.items() if value is not None and value is not False}


def encode(value: Any) -> bytes:
    """Encode a value as JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:  # ValueError includes errors of Unicode
        raise InvalidArgumentError("invalid_argument", f"cannot encode the request as JSON: {error}") from None


def stamp(time: Optional[Time]) -> Optional[str]:
    """Return a time in the format of RFC 3339. A datetime without a zone is in UTC."""
    if isinstance(time, datetime):
        return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).isoformat()
    if not (time is None or isinstance(time, str)):
        raise TypeError(f"a time must be a datetime or a str, not {type(time).__name__}")
    return time


def required_text(argument: str, value: object) -> str:
    """Return the value of an argument that must be a str."""
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a str, not {type(value).__name__}")
    return value


def day_of(time: Union[date, str, None]) -> Optional[str]:
    """Return the day of a time in UTC."""
    if isinstance(time, datetime):
        return (time.astimezone(timezone.utc) if time.tzinfo else time).date().isoformat()
    return time.isoformat() if isinstance(time, date) else time


def _text(value: Any) -> str:
    return "true" if value is True else str(value)
