"""The contents of responses. The attributes have the same names as in the HTTP API, in the style of Python.

Times are aware datetimes. An attribute that a response omits is None, an empty list or False.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Dict, Generic, List, Optional, TypeVar

from toolrun.client.errors import of_fault

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list. If ``next`` is set, there are more pages, which begin after it."""

    items: List[T]
    next: Optional[str] = None


# Faults


@dataclass(frozen=True)
class Violation:
    """A violation of a schema. ``pointer`` is a JSON Pointer, "" for the root."""

    pointer: str
    keyword: str
    limit: Any = None
    existing: bool = False


@dataclass(frozen=True)
class ProblemDetail:
    """A part of a request that violates the API."""

    message: str
    location: Optional[str] = None


@dataclass(frozen=True)
class Fault:
    """The fault of a failed run or turn, with its location in the source."""

    code: str
    message: str
    id: Optional[str] = None
    op: Optional[str] = None
    store: Optional[str] = None
    item: Optional[str] = None
    violations: List[Violation] = field(default_factory=list)
    hint: Optional[str] = None
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    stack: Optional[str] = None
    outcome: Optional[str] = None


# Runs


@dataclass(frozen=True)
class LogLine:
    """A log line. Only lines of a streamed run have an ``attempt``, which counts from 1."""

    level: str
    time: datetime
    text: str
    attempt: Optional[int] = None


@dataclass(frozen=True)
class ReadEffect:
    """A read of a record."""

    store: str
    revision: int
    item: Optional[str] = None


@dataclass(frozen=True)
class WriteEffect:
    """A write of a record."""

    store: str
    revision: int
    op: str
    item: Optional[str] = None
    violations: List[Violation] = field(default_factory=list)


@dataclass(frozen=True)
class Effects:
    """The reads and writes of a run."""

    reads: List[ReadEffect]
    writes: List[WriteEffect]


@dataclass(frozen=True)
class Change:
    """A change that a dry run would have stored."""

    store: str
    before: Any
    after: Any
    item: Optional[str] = None


@dataclass(frozen=True)
class Remembered:
    """An entry of a collection that a test run would have stored. ``namespace`` is "" for the default namespace."""

    collection: str
    namespace: str
    id: str
    content: Any
    metadata: Dict[str, Any]
    expires_at: Optional[datetime] = None


@dataclass(frozen=True)
class ModelUsage:
    """The usage of models."""

    calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class TargetUsage(ModelUsage):
    """The usage of one model."""

    model: str


@dataclass(frozen=True)
class OrphanedCall:
    """An external call of an earlier attempt that the last attempt did not repeat."""

    kind: str
    target: str


@dataclass(frozen=True)
class Usage:
    """The resources that a run used. ``memory_bytes`` is None if the engine does not measure memory."""

    wall_ms: float
    cpu_ms: float
    host_calls: int
    memory_bytes: Optional[int] = None
    model: Optional[ModelUsage] = None


O = TypeVar("O", bound="Outcome")


class Outcome:
    """The result of a run, a turn or an evaluation. If ``ok`` is false, nothing was stored."""

    ok: bool
    error: Optional[Fault]

    def check(self: O) -> O:
        """Return this result if it is ok, and otherwise raise the error for its fault."""
        if self.ok:
            return self
        raise of_fault(self.error or Fault("internal", "the run failed, but its result has no error"), self._id())

    def _id(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Effect:
    """A call of a tool that requires an approval. After the decision, it has no arguments.

    ``location`` is the file and the line of the step of a machine, such as ``order.machine:12``.
    """

    operation: str
    arguments: Any = None
    location: Optional[str] = None


@dataclass(frozen=True)
class PendingApproval:
    """The approval that a paused run waits for, until the time ``expires_at``."""

    token: str
    effect: Effect
    expires_at: datetime
    step: Optional[str] = None


@dataclass(frozen=True)
class ApprovalBinding:
    """What an approval permits: digests of the code, of the declarations of the app, and of the arguments."""

    program: str
    app: str
    operation: str
    arguments: str
    step: Optional[str] = None


@dataclass(frozen=True)
class Approval:
    """An effect that waits for an approval, or that was approved or denied.

    If ``by_user`` is true, the user of the run can decide.
    """

    token: str
    run_id: str
    tool: str
    binding: ApprovalBinding
    effect: Effect
    by_user: bool
    requested_at: datetime
    expires_at: datetime
    state: str
    user_id: Optional[str] = None
    session_id: Optional[str] = None
    workflow_id: Optional[str] = None
    decided_by: Optional[str] = None
    decided_at: Optional[datetime] = None
    reason: Optional[str] = None


@dataclass(frozen=True)
class Result(Outcome):
    """The Result of a run. If ``status`` is paused, the run waits for ``approval``.

    ``repeated`` is true if it repeats the Result of an earlier run with the same key.
    """

    ok: bool
    run_id: str
    tool: str
    output: Any
    logs: List[LogLine]
    warnings: List[str]
    usage: Usage
    effects: Effects
    attempts: int
    status: str = ""
    error: Optional[Fault] = None
    approval: Optional[PendingApproval] = None
    context: Optional[Dict[str, Any]] = None
    changes: List[Change] = field(default_factory=list)
    remembered: List[Remembered] = field(default_factory=list)
    orphaned: List[OrphanedCall] = field(default_factory=list)
    repeated: bool = False

    def check(self) -> "Result":
        """Return this result if it is ok. Otherwise raise an error; for a paused run it has the code access_denied."""
        if self.approval is None:
            return super().check()
        step = f" in the step {self.approval.step}" if self.approval.step else ""
        message = f"{self.approval.effect.operation}{step} requires an approval with the token {self.approval.token}"
        raise of_fault(Fault("access_denied", message), self.run_id)

    def _id(self) -> str:
        return self.run_id


@dataclass(frozen=True)
class Run:
    """The state of a run. ``status`` is "queued", "running" or "done"."""

    run_id: str
    tool: str
    status: str
    created: datetime
    user_id: Optional[str] = None
    session_id: Optional[str] = None
    workflow_id: Optional[str] = None
    cancelled: bool = False
    started: Optional[datetime] = None
    ended: Optional[datetime] = None
    expires_at: Optional[datetime] = None
    result: Optional[Result] = None


@dataclass(frozen=True)
class Tool:
    """A declared tool. ``broken`` is the reason why it cannot run."""

    name: str
    title: Optional[str] = None
    description: Optional[str] = None
    input_schema: Any = field(default=None, metadata={"name": "inputSchema"})
    output_schema: Any = field(default=None, metadata={"name": "outputSchema"})
    broken: Optional[str] = None


# Agents


@dataclass(frozen=True)
class Agent:
    """An agent of the app."""

    name: str
    tools: List[str]
    facts: List[str]
    events: List[str]
    goal: Optional[str] = None


@dataclass(frozen=True)
class Trace:
    """An evaluated element of an agent."""

    kind: str
    name: Optional[str] = None
    position: Optional[str] = None
    value: Any = None
    result: Optional[str] = None


@dataclass(frozen=True)
class InjectedMemory:
    """The blocks that the models of an agent saw, and the hidden messages for the turn."""

    agent: str
    user_memory: str
    system_reminders: List[str]


@dataclass(frozen=True)
class Turn(Outcome):
    """The result of a turn. ``agent`` is the agent that answers the next message."""

    ok: bool
    turn_id: str
    session_id: str
    agent: str
    messages: List[str]
    step: Optional[str]
    collecting: Optional[str]
    done: bool
    blocked: bool
    escalate: bool
    handoff: Optional[str]
    variables: Dict[str, Any]
    injected: Dict[str, Any]
    instructions: List[str]
    logs: List[LogLine]
    warnings: List[str]
    trace: List[Trace]
    usage: Usage
    effects: Effects
    attempts: int
    error: Optional[Fault] = None
    changes: List[Change] = field(default_factory=list)
    remembered: List[Remembered] = field(default_factory=list)
    user_memory: List[InjectedMemory] = field(default_factory=list)
    orphaned: List[OrphanedCall] = field(default_factory=list)
    repeated: bool = False

    def _id(self) -> str:
        return self.turn_id


@dataclass(frozen=True)
class ModelPrompt:
    """A request to a model. ``request`` has the members of the model's API, such as messages."""

    model: str
    request: Dict[str, Any]


@dataclass(frozen=True)
class Preview(Outcome):
    """The first request that a turn would send to a model. ``prompt`` is None if it would send none."""

    ok: bool
    turn_id: str
    session_id: str
    agent: str
    prompt: Optional[ModelPrompt]
    effects: Effects
    attempts: int
    error: Optional[Fault] = None

    def _id(self) -> str:
        return self.turn_id


@dataclass(frozen=True)
class Failure:
    """A constraint that failed, and what its ON_FAIL requests."""

    position: str
    rule: str
    severity: str
    message: Optional[str] = None
    handoff: Optional[str] = None
    escalate: bool = False
    collect: List[str] = field(default_factory=list)
    goto: Optional[str] = None
    retry: bool = False
    then: Optional[str] = None


@dataclass(frozen=True)
class Evaluation(Outcome):
    """The result of an evaluation of an agent's rules. ``stored`` contains the facts that triggers stored."""

    ok: bool
    turn_id: str
    session_id: str
    agent: str
    blocked: bool
    failures: List[Failure]
    injected: Dict[str, Any]
    instructions: List[str]
    stored: Dict[str, Any]
    warnings: List[str]
    trace: List[Trace]
    usage: Usage
    effects: Effects
    attempts: int
    error: Optional[Fault] = None
    changes: List[Change] = field(default_factory=list)
    repeated: bool = False

    def _id(self) -> str:
        return self.turn_id


# Memory


@dataclass(frozen=True)
class Block:
    """A text about a user. ``updated_at`` is the ``expected_updated_at`` of the next update."""

    id: str
    block_type: str
    content: str
    scope: str
    created_at: datetime
    updated_at: datetime
    revision: int
    agent_id: Optional[str] = None


@dataclass(frozen=True)
class BlockDeclaration:
    """A block that the app declares, with its limits.

    ``use`` is "context" for texts that are included in prompts, or "recall" for texts whose lines are searched.
    ``entries`` is None if the number of lines is not limited.
    """

    block_type: str
    use: str
    characters: int
    language: str
    shared: bool
    entries: Optional[int] = None
    description: str = ""


@dataclass(frozen=True)
class BlockDeclarations:
    """A list of the blocks that an app declares."""

    blocks: List[BlockDeclaration]


@dataclass(frozen=True)
class Blocks:
    """A list of blocks."""

    blocks: List[Block]


@dataclass(frozen=True)
class RecalledLine:
    """A line of a block that matches a query. ``score`` is between 0 and 1. Lines count from 1."""

    content: str
    score: float
    block_type: str
    scope: str
    line_number: int
    updated_at: datetime
    agent_id: Optional[str] = None


@dataclass(frozen=True)
class Recalled:
    """The lines that match a query, the best match first."""

    results: List[RecalledLine]


@dataclass(frozen=True)
class MemoryContext:
    """The memory for a prompt: the text of the blocks, and the hidden messages for the current turn."""

    user_memory: str
    system_reminders: List[str]


# Sessions, workflows, facts and files


@dataclass(frozen=True)
class Session:
    """A session. ``ended`` is None while the session is open."""

    session_id: str
    metadata: Dict[str, Any]
    started: datetime
    used: datetime
    user_id: Optional[str] = None
    session_reference: Optional[str] = None
    user_reference: Optional[str] = None
    ended: Optional[datetime] = None


@dataclass(frozen=True)
class StartedSession(Session):
    """A started session. ``result`` is the Result of the run of its message."""

    result: Optional[Result] = None


@dataclass(frozen=True)
class MessagesAdded:
    """The number of messages that were added to a transcript."""

    session_id: str
    messages: int


@dataclass(frozen=True)
class SleepStatus:
    """The state of sleep-time memory. ``due``, ``waiting``, ``running`` and ``failed`` count conversations.

    With ``more``, there are more conversations than are counted. ``next`` is the time at which the next run is due.
    """

    paused: bool
    since: Optional[datetime]
    due: int
    waiting: int
    running: int
    failed: int
    next: Optional[datetime]
    more: bool


@dataclass(frozen=True)
class Workflow:
    """A workflow. ``ended`` is None while the workflow is open."""

    workflow_id: str
    started: datetime
    used: datetime
    user_id: Optional[str] = None
    ended: Optional[datetime] = None


@dataclass(frozen=True)
class Fact:
    """A fact. If ``default`` is true, no value is stored, and ``value`` is the declared default or None."""

    path: str
    value: Any
    revision: int
    updated_at: Optional[datetime]
    expires_at: Optional[datetime]
    default: bool
    type: Optional[str] = None
    violations: List[Violation] = field(default_factory=list)


@dataclass(frozen=True)
class File:
    """An uploaded file. Anyone with the ``download_url`` can download it."""

    file_id: str
    type: str
    filename: str
    mimetype: str
    size: int
    sha256: str
    is_active: bool
    uploaded_at: datetime
    expires_at: datetime
    has_text: bool
    text_truncated: bool = False
    text_reason: Optional[str] = None
    download_url: Optional[str] = None


@dataclass(frozen=True)
class Download:
    """The content of a file. ``name`` is untrusted text: do not use it as a path."""

    name: str
    media_type: str
    content: bytes


# Stores and records


@dataclass(frozen=True)
class SchemaMistake:
    """A constraint of a schema that has no effect."""

    pointer: str
    message: str
    hint: Optional[str] = None


@dataclass(frozen=True)
class Unfit:
    """The number of records that violate a schema. With ``at_least``, not all records were checked."""

    records: int
    at_least: bool = False


@dataclass(frozen=True)
class Store:
    """The declaration of a store. Only responses to declarations have ``mistakes`` and ``unfit``."""

    technical_name: str
    access: str
    name: Optional[str] = None
    description: Optional[str] = None
    retention: Optional[str] = None
    strict: bool = False
    schema: Any = None
    declared: Optional[str] = None
    mistakes: List[SchemaMistake] = field(default_factory=list)
    unfit: Optional[Unfit] = None


@dataclass(frozen=True)
class Record:
    """The content of a record."""

    content: Any
    expires_at: Optional[datetime]
    revision: int = 0
    created: Optional[datetime] = None
    updated_at: Optional[datetime] = None
    violations: List[Violation] = field(default_factory=list)


@dataclass(frozen=True)
class RecordInfo:
    """A record without its content."""

    store: str
    revision: int
    bytes: int
    created: datetime
    updated_at: datetime
    item: Optional[str] = None
    user_id: Optional[str] = None
    session_id: Optional[str] = None
    workflow_id: Optional[str] = None
    expires_at: Optional[datetime] = None


@dataclass(frozen=True)
class Deleted:
    """The outcome of a deletion."""

    deleted: bool


@dataclass(frozen=True)
class Removed:
    """The number of removed records."""

    records: int


# Collections


@dataclass(frozen=True)
class MoveTarget:
    """The model to which the entries of a collection are being moved."""

    embedder: str
    dimension: int


@dataclass(frozen=True)
class Reembedding:
    """The state of a move of a collection to the embedding model that the app declares.

    ``moved`` is the number of entries that have got new vectors in this move. If ``done`` is False, the move has to be continued.
    """

    embedder: str
    dimension: int
    moved: int
    done: bool


@dataclass(frozen=True)
class Collection:
    """A collection, with the numbers of its entries. With ``more``, there are more entries than are counted.

    ``embedder`` is the model that made the stored vectors, and None before the first entry. ``moving_to`` is the model to which the
    entries are being moved, or None.
    """

    name: str
    declared: bool
    access: str
    embedding: str
    entries: int
    bytes: int
    namespaces: int
    retention: Optional[str] = None
    language: Optional[str] = None
    erase: Optional[str] = None
    embedder: Optional[str] = None
    dimension: Optional[int] = None
    moving_to: Optional[MoveTarget] = None
    more: bool = False


@dataclass(frozen=True)
class ImportedFile:
    """The result of an import of a file into a collection.

    ``entries`` counts the entries of the file, and ``unchanged`` those that were stored already without any difference.
    ``removed`` counts entries of an earlier import that are not part of the file anymore. With ``truncated``, the file has more
    text that was not imported.
    """

    source: str
    entries: int
    unchanged: int
    removed: int
    truncated: bool = False


@dataclass(frozen=True)
class Entry:
    """An entry of a collection. ``namespace`` is "" in the default namespace.

    The namespace belongs to ``user_id``, to ``session_id``, or to the app. ``author`` is the user whose erasure removes an
    entry of the app. ``expires_at`` is None if the entry does not expire.
    """

    namespace: str
    id: str
    content: Any
    revision: int
    created: datetime
    updated_at: datetime
    metadata: Optional[Dict[str, Any]] = None
    user_id: Optional[str] = None
    session_id: Optional[str] = None
    author: Optional[str] = None
    expires_at: Optional[datetime] = None


@dataclass(frozen=True)
class StoredEntry:
    """The id of an entry that was stored, and the end of its lifetime."""

    id: str
    expires_at: Optional[datetime] = None


@dataclass(frozen=True)
class StoredEntries:
    """A list of stored entries, in the order of the request."""

    entries: List[StoredEntry]


@dataclass(frozen=True)
class FoundEntry:
    """An entry that matches a query. ``score`` is between 0 and 1.

    ``vector`` is the similarity of the vectors, and ``text`` the relevance of the words. Both are None unless the search
    requested scores.
    """

    id: str
    content: Any
    metadata: Dict[str, Any]
    score: float
    vector: Optional[float] = None
    text: Optional[float] = None


@dataclass(frozen=True)
class FoundEntries:
    """The entries that match a query, the best match first."""

    results: List[FoundEntry]
    count: int


@dataclass(frozen=True)
class Forgotten:
    """The number of removed entries. With ``more``, the selection has further entries, which another call removes."""

    count: int
    more: bool


# The service


@dataclass(frozen=True)
class Prompt:
    """A declared prompt."""

    name: str
    description: Optional[str] = None


@dataclass(frozen=True)
class Rendered:
    """A rendered prompt. ``missing`` lists the expressions without a value.

    ``system_reminders`` are hidden messages for the current turn, with the archival mode auto.
    """

    name: str
    text: str
    missing: List[str] = field(default_factory=list)
    system_reminders: List[str] = field(default_factory=list)


@dataclass(frozen=True)
class LedgerEntry:
    """An entry of the ledger. ``more`` is the number of reads and writes that the entry omits."""

    run_id: str
    act: str
    at: datetime
    attempts: int
    reads: List[ReadEffect]
    writes: List[WriteEffect]
    tool: Optional[str] = None
    approval: Optional[str] = None
    file_id: Optional[str] = None
    actor: Optional[str] = None
    user_id: Optional[str] = None
    session_id: Optional[str] = None
    workflow_id: Optional[str] = None
    code: Optional[str] = None
    models: List[TargetUsage] = field(default_factory=list)
    orphaned: List[OrphanedCall] = field(default_factory=list)
    more: int = 0


@dataclass(frozen=True)
class AppUsage:
    """The usage of an app: the current size of its data, and its runs on the requested days."""

    tenant: str
    app: str
    stored_bytes: int
    stored_records: int
    runs: int
    failed: int
    repeated: int
    refused: int
    not_started: int
    cpu_ms: float
    model_calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Erased:
    """The numbers of items that an erasure removed."""

    user_id: str
    stores: Dict[str, int]
    records: int
    bytes: int
    sessions: int
    runs: int
    workflows: int
    files: int
    ledger_entries: int
    # The entries of each collection with "erase: never". An erasure keeps them.
    kept_shared: Dict[str, int]


@dataclass(frozen=True)
class LeftOut:
    """A part of a document that was not imported."""

    kind: str
    name: str
    reason: str


@dataclass(frozen=True)
class Imported:
    """The names of the imported stores, and the parts of the document that were not imported."""

    stores: List[str]
    left_out: List[LeftOut]


@dataclass(frozen=True)
class Whoami:
    """The identity of a key, and the apps that it can use."""

    name: str
    role: str
    tenant: str
    apps: List[str]
    user_id: Optional[str] = None
    session_id: Optional[str] = None
    workflow_id: Optional[str] = None
