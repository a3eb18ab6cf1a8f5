"""The keyword arguments that several methods have in common."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Mapping, Optional, TypedDict, Union


class IdFields(TypedDict, total=False):
    """The ids of a request. Credentials of a user act only for that user."""

    user_id: Optional[str]
    session_id: Optional[str]
    workflow_id: Optional[str]


class ConversationFields(IdFields, total=False):
    """The arguments of runs and turns.

    metadata           a JSON Merge Patch (RFC 7396) for the session's metadata
    session_reference  the platform's own id of the session
    user_reference     the platform's own id of the user
    timeout_ms         the time limit in milliseconds
    dry_run            store nothing; ``changes`` contains what would have been stored
    test               store nothing, ask no model without mocks, and let collections be empty; ``remembered`` contains the
                       entries that would have been remembered
    live               let a dry run ask models
    mocks              answers in place of all models: lists of texts and objects, by the name of the model; the member
                       ``recall`` can contain results in place of searches, by the name of the collection
    """

    metadata: Optional[Mapping[str, Any]]
    session_reference: Optional[str]
    user_reference: Optional[str]
    timeout_ms: Optional[int]
    dry_run: bool
    test: bool
    live: bool
    mocks: Optional[Mapping[str, Any]]


class RunFields(ConversationFields, total=False):
    """The arguments of runs.

    message      the message of the user
    agent_id     the active agent, whose memory blocks the tool can use
    context      members to add to the tool's context
    env          variables to add to the environment that the tool declares
    deadline_ms  the time limit of the whole run, including queueing and waiting for models
    """

    message: Optional[str]
    agent_id: Optional[str]
    context: Optional[Mapping[str, Any]]
    env: Optional[Mapping[str, str]]
    deadline_ms: Optional[int]


class RuleFields(ConversationFields, total=False):
    """The arguments of evaluations.

    message    the message of the user, which the rules read as input
    variables  the session variables, in place of the stored ones
    """

    message: Optional[str]
    variables: Optional[Mapping[str, Any]]


class StoreFields(TypedDict, total=False):
    """The declaration of a store.

    access       the scope of its records: session, user or application
    name         the display name
    description  the purpose of the store
    retention    how long a record lives after its last write, such as "30d"
    strict       reject writes that violate the schema
    schema       a JSON Schema of the content
    """

    access: Literal["session", "user", "application"]
    name: Optional[str]
    description: Optional[str]
    retention: Optional[str]
    strict: bool
    schema: Any


class Message(TypedDict):
    """A message of a conversation."""

    role: Literal["user", "assistant"]
    content: str


class _Content(TypedDict):
    content: Any


class NewEntry(_Content, total=False):
    """An entry to store in a collection. Only ``content`` is required.

    content    a text or another JSON value
    id         the id in the namespace; the default is a new id
    namespace  the namespace; the default is the default namespace
    metadata   an object with the values by which a search can filter
    ttl        the lifetime, such as "30d"; the default is the retention of the collection
    """

    id: str
    namespace: str
    metadata: Mapping[str, Any]
    ttl: str


class MemoryPolicy(TypedDict, total=False):
    """Which blocks a prompt or a turn contains. Each omitted member has its default.

    archival_mode       "auto" adds the lines that match the message as system reminders; the default is "tool_only"
    archival_limit      the maximum number of these lines; the default is 10
    archival_min_score  the minimum score of these lines
    include_user_core   whether the blocks of the user are included; the default is True
    include_agent_core  whether the blocks of the agent are included; the default is True
    """

    archival_mode: Literal["tool_only", "auto", "off"]
    archival_limit: int
    archival_min_score: Optional[float]
    include_user_core: bool
    include_agent_core: bool


class LedgerFields(IdFields, total=False):
    """The selection of entries of the ledger.

    tool    the name of the tool
    store   the name of a store that was read or written
    writes  select entries that contain writes
    failed  select entries that have a fault code
    since   select entries at or after this time
    until   select entries before this time
    """

    tool: Optional[str]
    store: Optional[str]
    writes: bool
    failed: bool
    since: Union[datetime, str, None]
    until: Union[datetime, str, None]
