"""The types of the module ``memory`` that a tool finds; there is no such module outside of the sandbox."""

from typing import Any, Literal, Mapping, Optional, TypedDict, Union, overload

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

# Which parts of a record to read, as in MongoDB: {"a.b": 1} includes, {"a": 0} excludes, {} is everything. A point
# that belongs to a name is written r"a\.b". Operators such as $slice are refused. Members come back sorted by name.
Projection = Mapping[str, Any]

class GetOptions(TypedDict, total=False):
    record: bool  # answer the record around the content, too

class SetOptions(TypedDict, total=False):
    replace: bool  # store the value as it is instead of merging it into the record
    if_revision: int  # only if the record has this revision, 0 if there must be none; else ConflictError
    ttl: str  # let the record live for less than the store's retention, as in "30m"

class DeleteOptions(TypedDict, total=False):
    if_revision: int

class Record(TypedDict):
    content: Any
    revision: int
    created: str
    updated_at: str
    expires_at: Optional[str]

class _File(TypedDict):
    fileId: str
    type: str  # the name of the format, such as "pdf"
    filename: str
    mimetype: str
    size: int  # in bytes
    sha256: str
    isActive: bool  # whether tools and prompts see the text
    uploadedAt: str
    expiresAt: str
    hasText: bool
    downloadUrl: Optional[str]  # None if the service gives no links; everyone who has it can download the file

class Artifact(_File, total=False):
    """A file that was uploaded to the session: an element of ``artifacts`` in the store ``sessionMeta``."""

    textTruncated: bool  # some of the text is missing: it exceeds a limit, or could not be read to its end
    textReason: Literal[
        "unsupported_format", "disabled", "no_text", "encrypted", "damaged", "too_complex", "unknown_encoding"
    ]  # why hasText is false
    text: str  # of an active file that has text

class SetReply(TypedDict):
    success: Literal[True]
    revision: Optional[int]  # None where the write told nothing about what was stored before
    updated_at: Optional[str]
    expires_at: Optional[str]

class DeleteReply(TypedDict):
    success: Literal[True]
    deleted: bool  # whether there was a record

@overload
def get_content(store: str, projection: Optional[Projection] = ..., options: Optional[GetOptions] = ...) -> Any:
    """Answer the content of a store, or None where there is no record."""

@overload
def get_content(
    *, memory_store_name: str, projections: Optional[Projection] = ..., options: Optional[GetOptions] = ...
) -> Any: ...
@overload
def set_content(store: str, value: Any, options: Optional[SetOptions] = ...) -> SetReply:
    """Create the record or merge the value into it (RFC 7396): fields that it does not name are kept, None removes."""

@overload
def set_content(*, memory_store_name: str, content: Any, options: Optional[SetOptions] = ...) -> SetReply: ...
@overload
def delete_content(store: str, options: Optional[DeleteOptions] = ...) -> DeleteReply:
    """Delete the record."""

@overload
def delete_content(*, memory_store_name: str, options: Optional[DeleteOptions] = ...) -> DeleteReply: ...
