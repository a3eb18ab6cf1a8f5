// Types of the client of the service: import { Client } from '@toolrun/sdk/client'. Members of
// requests and responses have the same names as in the HTTP API. Times are strings in the format of
// RFC 3339.

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

export interface ClientOptions {
  /** The URL of the service, such as https://tools.example. It can have a path. */
  url: string;
  /**
   * An API key or a token. It is sent only to this URL and never to the target of a redirect.
   * Errors do not contain it.
   */
  key?: string;
  /** The id of the app. The default is the app of the key, if the key has exactly one. */
  app?: string;
  /** Sends the requests. The default is the global fetch. */
  fetch?: typeof fetch;
  /**
   * The maximum number of retries if the service is busy. Only requests that are safe to repeat are
   * retried. The default is 3.
   */
  retries?: number;
}

export interface CallOptions {
  /**
   * Cancels the request. The run of a canceled request stores nothing, unless its commit has begun.
   */
  signal?: AbortSignal;
}

export interface RunOptions extends CallOptions {
  /**
   * The idempotency key. For 24 hours after a successful run, a request with the same key and
   * content returns the Result of that run.
   */
  idempotencyKey?: string;
}

export interface StreamOptions extends RunOptions {
  /**
   * Is called with the id of the run before the first log line, even if the run is still queued.
   */
  onRunId?: (id: string) => void;
}

/**
 * The user, session and workflow of a request. If the credentials belong to a user, requests act only for
 * that user.
 */
export interface Caller {
  user_id?: string;
  session_id?: string;
  /** Only for runs, prompts and facts. */
  workflow_id?: string;
  /** The active agent. Only for runs and prompts. */
  agent_id?: string;
}

export interface SessionCaller extends Caller {
  session_id: string;
}

export interface RunFields extends Caller {
  /** The input, a JSON object. By default, the input consists of the message. */
  input?: { [name: string]: unknown };
  /** The user's message. */
  message?: string;
  /** A JSON Merge Patch (RFC 7396) for the session's metadata. */
  metadata?: { [name: string]: unknown };
  context?: { [name: string]: unknown };
  session_reference?: string;
  user_reference?: string;
  env?: { [name: string]: string };
  timeout_ms?: number;
  /** The time limit of the whole run, including queueing and waiting for models. */
  deadline_ms?: number;
  /** Store nothing. The Result contains the changes that would have been stored. */
  dry_run?: boolean;
  /**
   * Store nothing, ask no model without mocks, and let collections be empty. The Result lists the
   * entries that would have been remembered.
   */
  test?: boolean;
  /** Let a dry run ask models. */
  live?: boolean;
  mocks?: Mocks;
}

/**
 * Answers in place of all models, by the name of the model. The member recall can contain results in
 * place of searches. Only operators can set them.
 */
export interface Mocks {
  [model: string]: MockAnswer[] | RecallMocks;
}

export type MockAnswer = string | { text?: string; object?: unknown; tool_calls?: unknown[]; error?: { code: string; message?: string } };

/** Results in place of searches, by the name of the collection, in the order of the calls. */
export interface RecallMocks {
  [collection: string]: (MockEntry[] | { error: { code: string; message?: string } })[];
}

/** An entry of a result: a text, or an object. By default, the score is 1. */
export type MockEntry = string | { content: unknown; metadata?: { [name: string]: unknown }; score?: number; id?: string };

/** An entry that a test run would have stored. */
export interface Remembered {
  collection: string;
  /** The name of the namespace, or "" for the default namespace. */
  namespace: string;
  id: string;
  content: any;
  metadata: { [name: string]: any };
  expires_at?: string;
}

export interface RunRequest extends RunFields {
  /** The name of the tool. The default is the app's default_tool, or else its only tool. */
  tool?: string;
}

export interface CodeRequest extends RunFields {
  /** The name of the tool in the Result. The default is "code". */
  name?: string;
  language: 'javascript' | 'typescript' | 'python';
  code: string;
  /** The grants by store: a comma-separated list of read, write, delete and readwrite. */
  grants?: { [store: string]: string };
}

export interface Violation {
  /** JSON Pointer of the value, "" for the root. */
  pointer: string;
  /** The schema keyword that failed. */
  keyword: string;
  limit?: Json;
  existing?: boolean;
}

/** The fault of a failed run. */
export interface Fault {
  code: string;
  message: string;
  op?: string;
  store?: string;
  item?: string;
  violations?: Violation[];
  hint?: string;
  file?: string;
  line?: number;
  column?: number;
  stack?: string;
  outcome?: 'unknown';
}

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  time: string;
  text: string;
}

export interface RunReport {
  run_id: string;
  tool: string;
  /** The context keys that the tool has added or changed. */
  context?: { [name: string]: Json };
  logs: LogLine[];
  warnings: string[];
  usage: { wall_ms: number; cpu_ms: number; memory_bytes?: number; host_calls: number };
  effects: { reads: ReadEffect[]; writes: WriteEffect[] };
  changes?: { store: string; item?: string; before: Json; after: Json }[];
  /** The entries of collections that a test run would have stored. */
  remembered?: Remembered[];
  attempts: number;
  /** Whether this is the Result of an earlier run with the same idempotency key. */
  repeated?: boolean;
}

export interface ReadEffect {
  store: string;
  item?: string;
  revision: number;
}

export interface WriteEffect extends ReadEffect {
  op: string;
  violations?: Violation[];
}

/** The Result of a run. ok is true if the run succeeded and its writes are stored. A paused run waits for an approval. */
export type Result<T = any> = RunReport &
  (
    | { status: 'completed'; ok: true; output: T; error?: undefined; approval?: undefined }
    | { status: 'paused'; ok: false; output: null; error?: undefined; approval: PendingApproval }
    | { status: 'failed'; ok: false; output: null; error: Fault; approval?: undefined }
  );

/** A call of a tool that requires an approval. After the decision, it has no arguments. */
export interface Effect {
  operation: string;
  /** The file and the line of the step of a machine, such as order.machine:12. */
  location?: string;
  arguments?: { [name: string]: Json };
}

/** The approval that a paused run waits for. */
export interface PendingApproval {
  token: string;
  step?: string;
  effect: Effect;
  expires_at: string;
}

/** An effect that waits for an approval, or that was approved or denied. */
export interface Approval extends Omit<PendingApproval, 'step'> {
  run_id: string;
  tool: string;
  user_id?: string;
  session_id?: string;
  workflow_id?: string;
  /** What the approval permits. */
  binding: { program: string; app: string; step?: string; operation: string; arguments: string };
  /** Whether the user of the run can decide. */
  by_user: boolean;
  requested_at: string;
  state: 'pending' | 'approved' | 'denied' | 'expired';
  decided_by?: string;
  decided_at?: string;
  reason?: string;
}

/** The state of a run, by its id. */
export interface Run<T = any> extends Caller {
  run_id: string;
  tool: string;
  /**
   * queued: it waits for the compilation of its tool or for admission; done: it has ended,
   * successfully or not.
   */
  status: 'queued' | 'running' | 'done';
  /** Whether cancellation was requested. The result shows whether the request came in time. */
  cancelled?: boolean;
  created: string;
  started?: string;
  ended?: string;
  /** The state of an ended run is removed at this time, or earlier if there are many runs. */
  expires_at?: string;
  /** The Result. It is missing until the run has ended, and if it is larger than 4 MiB. */
  result?: Result<T>;
}

/** An event of a streamed run: a log line of the tool or, as the last event, the Result. */
export type RunEvent<T = any> = { log: LogLine & { attempt: number }; result?: undefined } | { log?: undefined; result: Result<T> };

/** An agent of the app. */
export interface Agent {
  name: string;
  goal?: string;
  /** The tools that the agent calls. */
  tools: string[];
  /** The paths of the facts that the agent declares. */
  facts: string[];
  /** The events at which the agent recalls facts. */
  events: string[];
}

export interface TurnFields extends Omit<Caller, 'agent_id'> {
  /** A JSON Merge Patch (RFC 7396) for the session's metadata. */
  metadata?: { [name: string]: unknown };
  session_reference?: string;
  user_reference?: string;
  timeout_ms?: number;
  /** Store nothing. The result contains the changes that would have been stored. */
  dry_run?: boolean;
  /** Store nothing, ask no model without mocks, and let collections be empty. */
  test?: boolean;
  /** Let a dry turn ask models. */
  live?: boolean;
  mocks?: Mocks;
}

export interface TurnRequest extends TurnFields {
  /** Which blocks the models of the turn see. */
  memory_policy?: MemoryPolicy;
  /** The user's message. Without it, the turn begins the flow, or repeats the question of a step. */
  message?: string;
  /** An event to fire instead of a message. */
  event?: string;
}

export interface RuleFields extends TurnFields {
  /** The session variables, for platforms that perform the turns themselves. The default is the stored variables. */
  variables?: { [name: string]: unknown };
}

export interface EventRequest extends RuleFields {
  event: string;
}

export interface CheckRequest extends RuleFields {
  /** "calling TOOL" or "returning results". The default is the constraints of each step. */
  before?: string;
}

export interface TurnReport {
  turn_id: string;
  session_id: string;
  /** The agent that answers the next message. */
  agent: string;
  blocked: boolean;
  /** The facts that recalls loaded, by path. */
  injected: { [path: string]: Json };
  /** The texts for a model that recalls added. */
  instructions: string[];
  warnings: string[];
  /** The evaluated elements, in order. */
  trace: { kind: string; name?: string; position?: string; value?: Json; result?: string }[];
  usage: RunReport['usage'];
  effects: RunReport['effects'];
  changes?: RunReport['changes'];
  remembered?: Remembered[];
  attempts: number;
  /** Whether this is the result of an earlier request with the same idempotency key. */
  repeated?: boolean;
}

/** ok is true if the turn or the evaluation succeeded and its writes are stored. */
export type Outcome = { ok: true; error: null } | { ok: false; error: Fault };

/** The first request that a turn would send to a model. */
export type Preview = Outcome & {
  turn_id: string;
  session_id: string;
  agent: string;
  /** The request, or null if the turn would send none. */
  prompt: { model: string; request: { messages: { role: string; content: string }[]; [name: string]: unknown } } | null;
  effects: RunReport['effects'];
  attempts: number;
};

/** The result of a turn. */
export type Turn = TurnReport & Outcome & {
  /** The messages to the user, in order. */
  messages: string[];
  /** The step that waits for input. */
  step: string | null;
  /** The field that the step asks for. */
  collecting: string | null;
  /** Whether the flow is complete. */
  done: boolean;
  /** Whether the agent passes the conversation to a person. */
  escalate: boolean;
  /** The agent to which the conversation was passed. */
  handoff: string | null;
  variables: { [name: string]: Json };
  /** The blocks that went into the prompts of models, by agent. */
  user_memory?: ({ agent: string } & MemoryContext)[];
  logs: LogLine[];
};

/** The result of an evaluation of an agent's rules. */
export type Evaluation = TurnReport & Outcome & {
  /** The constraints that failed. The evaluation stops at the first one of severity error. */
  failures: {
    position: string;
    rule: 'REQUIRE' | 'LIMIT' | 'RESTRICT' | 'WARN';
    severity: 'error' | 'warning';
    message?: string;
    handoff?: string;
    escalate?: boolean;
    collect?: string[];
    goto?: string;
    retry?: boolean;
    then?: 'continue' | 'retry';
  }[];
  /** The facts that triggers stored, by path. */
  stored: { [path: string]: Json };
};

export interface WorkflowCaller extends Caller {
  workflow_id: string;
}

export interface SessionRequest extends Omit<Caller, 'workflow_id' | 'agent_id'> {
  /** Runs the app's default tool in the session. */
  message?: string;
  metadata?: { [name: string]: unknown };
  session_reference?: string;
  user_reference?: string;
}

export interface Session {
  session_id: string;
  user_id?: string;
  session_reference?: string;
  user_reference?: string;
  metadata: { [name: string]: Json };
  started: string;
  used: string;
  /** Missing while the session is open. */
  ended?: string;
}

/** A message of a conversation. */
export interface Message {
  role: 'user' | 'assistant';
  content: string;
}

/** The number of conversations that sleep-time memory has not processed. */
export interface SleepStatus {
  paused: boolean;
  /** The time of the pause, or null. */
  since: string | null;
  /** The numbers of conversations whose run is due, is not due yet, and is in progress. */
  due: number;
  waiting: number;
  running: number;
  /** The number of conversations whose run has failed. The run is repeated later. */
  failed: number;
  /** The time of the next run, or null. */
  next: string | null;
  /** True if there are more conversations than these numbers count. */
  more: boolean;
}

export interface Workflow {
  workflow_id: string;
  user_id?: string;
  started: string;
  used: string;
  /** Missing while the workflow is open. */
  ended?: string;
}

/** The value of a fact. */
export interface Fact {
  path: string;
  /** The stored value, the declared default, or null. */
  value: Json;
  /** The declared type; missing if there is none, and in lists. */
  type?: string;
  /** 0 if no value is stored. */
  revision: number;
  updated_at: string | null;
  expires_at: string | null;
  /** Whether no value is stored. */
  default: boolean;
  /** Missing if the value has the declared type. */
  violations?: Violation[];
}

/** A text about a user that becomes part of prompts, or that is searched on request. */
export interface Block {
  id: string;
  /** The name of the block, such as "core". */
  block_type: string;
  /** The whole text. A write replaces it. */
  content: string;
  scope: 'user' | 'agent';
  /** The agent, in the scope agent. */
  agent_id: string | null;
  created_at: string;
  /** The time of the last write. It is greater than any earlier value for this block. */
  updated_at: string;
  revision: number;
}

/** A block that the app declares, with its limits. */
export interface BlockDeclaration {
  /** The name of the block, such as "core". */
  block_type: string;
  description?: string;
  /** context: the text is included in prompts. recall: its lines are searched. */
  use: 'context' | 'recall';
  /** The maximum number of characters (Unicode code points) of the text. */
  characters: number;
  /** The maximum number of lines that are not blank; null if the number is not limited. */
  entries: number | null;
  /** The language of the stems in searches. */
  language: string;
  /** Whether all apps of the tenant share the text of a user. */
  shared: boolean;
}

/** Selects the user and the scope of blocks. */
export interface BlockQuery {
  /** The default is "agent" with agent_id, else "user". */
  scope?: 'user' | 'agent';
  agent_id?: string;
  /** Credentials of a user act only for that user. */
  user_id?: string;
}

export interface BlockUpdate extends BlockQuery {
  /**
   * The updated_at that was last read. null, the default, means that the block must not exist. A
   * time without a zone is in UTC.
   */
  expected_updated_at?: Date | string | null;
}

export interface RecallOptions {
  /** Also search the blocks of this agent. */
  agent_id?: string;
  user_id?: string;
  /** The maximum number of results, up to 100. The default is 10. */
  limit?: number;
  /** The minimum score, from 0 to 1. */
  min_score?: number | null;
}

/** A line of a block that matches a query. */
export interface RecalledLine {
  content: string;
  /** How well the line matches, from 0 to 1. */
  score: number;
  block_type: string;
  scope: 'user' | 'agent';
  agent_id: string | null;
  /** The number of the line in its block, from 1. */
  line_number: number;
  updated_at: string;
}

/** Controls which blocks a prompt or a turn contains. */
export interface MemoryPolicy {
  /** "auto" adds the lines that match the message. The default is "tool_only". */
  archival_mode?: 'tool_only' | 'auto' | 'off';
  /** The maximum number of these lines. The default is 10. */
  archival_limit?: number;
  archival_min_score?: number | null;
  /** The default is true. */
  include_user_core?: boolean;
  /** The default is true. */
  include_agent_core?: boolean;
}

export interface ContextRequest {
  /** The user's message, for the archival mode "auto". */
  message?: string;
  agent_id?: string;
  user_id?: string;
  memory_policy?: MemoryPolicy;
}

/** The memory for a prompt. */
export interface MemoryContext {
  /** The text of the blocks; empty if there are none. */
  user_memory: string;
  /** Hidden messages for the current turn. */
  system_reminders: string[];
}

/** The blocks of users. Every method rejects with a ToolrunError. */
export interface Memory {
  /** Lists the blocks that exist. "all" adds the blocks of agents. */
  list(query?: Omit<BlockQuery, 'scope'> & { scope?: 'user' | 'agent' | 'all' }, options?: CallOptions): Promise<Block[]>;
  /** Lists the blocks that the app declares, with their limits. */
  declared(options?: CallOptions): Promise<BlockDeclaration[]>;
  /** Reads a block. If it does not exist, the code is "not_found". */
  get(block: string, query?: BlockQuery, options?: CallOptions): Promise<Block>;
  /**
   * Replaces the content of a block. If another writer has changed the block, the code is "conflict".
   * If the content exceeds a limit of the block, the code is "too_large".
   */
  update(block: string, content: string, update?: BlockUpdate, options?: CallOptions): Promise<Block>;
  /** Deletes a block. If another writer has changed the block, the code is "conflict". */
  delete(block: string, query: BlockQuery & { expected_updated_at: Date | string }, options?: CallOptions): Promise<{ success: true; deleted: boolean }>;
  /** Returns the lines of searched blocks that match a query, the best match first. */
  recall(query: string, recall?: RecallOptions, options?: CallOptions): Promise<RecalledLine[]>;
  /** Returns the memory for a prompt. */
  context(request?: ContextRequest, options?: CallOptions): Promise<MemoryContext>;
}

/** A store with entries that a search finds by their words and vectors. */
export interface Collection {
  name: string;
  /** Whether the app declares the collection. */
  declared: boolean;
  /**
   * The owner of the entries. In a collection without a declaration, namespaces with a name belong to
   * users.
   */
  access: 'user' | 'session' | 'application';
  /** The lifetime of the entries, such as "90d". */
  retention?: string;
  /** The language of the stems in searches. */
  language?: string;
  /**
   * Whether the erasure of a user removes the entries that the user's runs wrote, if the entries
   * belong to the app.
   */
  erase?: 'author' | 'never';
  /** The name of the declared embedding model. */
  embedding: string;
  /** The model that made the stored vectors; missing before the first entry. */
  embedder?: string;
  /** The dimension of the stored vectors; missing before the first entry. */
  dimension?: number;
  /** The model to which the entries are being moved; missing if no entries are being moved. */
  moving_to?: { embedder: string; dimension: number };
  /** The number of entries. */
  entries: number;
  /** The size of the contents, the metadata and the vectors. */
  bytes: number;
  /** The number of namespaces, by owner. */
  namespaces: number;
  /** The collection has more entries than were counted. */
  more?: boolean;
}

/** Selects the owner of entries. Credentials of a user act only for that user. */
export interface EntryOwner {
  /** For collections with the access "user". */
  user_id?: string;
  /** For collections with the access "session". */
  session_id?: string;
}

export interface EntryPlace extends EntryOwner {
  /** The default is the default namespace, "". */
  namespace?: string;
}

export interface EntryQuery extends EntryOwner, PageQuery {
  /** The default is all namespaces. The text "" is the default namespace. */
  namespace?: string;
}

/** An entry of a collection. */
export interface Entry<T = any> {
  /** The text "" is the default namespace. */
  namespace: string;
  /** The id of the entry in its namespace. */
  id: string;
  /** The user who owns the namespace. */
  user_id?: string;
  /** The session that owns the namespace. */
  session_id?: string;
  /** The user whose erasure removes the entry, if the entry belongs to the app. */
  author?: string;
  /** A text or another JSON value. */
  content: T;
  metadata?: { [name: string]: Json };
  revision: number;
  created: string;
  updated_at: string;
  /** Missing if the entry does not expire. */
  expires_at?: string;
}

/** An entry to store. */
export interface NewEntry {
  /** An entry with the same id is replaced. The default is a new id. */
  id?: string;
  /** The default is the default namespace, "". */
  namespace?: string;
  /** A text or another JSON value. */
  content: unknown;
  /** The values by which a search can filter. */
  metadata?: { [name: string]: Json | undefined };
  /** The lifetime, such as "30d". The default is the retention of the collection. */
  ttl?: string;
}

export interface StoredEntry {
  id: string;
  /** Missing if the entry does not expire. */
  expires_at?: string;
}

/**
 * A condition on the metadata: for each name a value, { in: [...] } or { gte, lte }. If a filter
 * contains undefined or another value that JSON cannot represent, the code is "invalid_argument".
 */
export interface EntryFilter {
  [name: string]: Json;
}

export interface EntrySearch extends EntryPlace {
  /** The maximum number of results, up to 1,000. The default is 10. */
  limit?: number;
  /** The minimum score, from 0 to 1. */
  threshold?: number;
  filter?: EntryFilter;
  /** The comparison. The default is "hybrid". */
  mode?: 'hybrid' | 'vector' | 'text';
  /** Whether the results contain the parts of their scores. */
  scores?: boolean;
}

/** An entry that a search has found. */
export interface FoundEntry<T = any> {
  id: string;
  content: T;
  metadata: { [name: string]: Json };
  /** The relevance of the entry, from 0 to 1. */
  score: number;
  /** The similarity of the vectors, with scores. */
  vector?: number;
  /** The relevance of the words, with scores. */
  text?: number;
}

/** Selects entries of one namespace: exactly one of id, filter and all. */
export type EntrySelector = EntryPlace & (
  | { id: string; filter?: undefined; all?: undefined }
  | { id?: undefined; filter: EntryFilter; all?: undefined }
  | { id?: undefined; filter?: undefined; all: true }
);

export interface Forgotten {
  /** The number of removed entries. */
  count: number;
  /** The selection has more entries than one request removes. Call forget again to remove them. */
  more: boolean;
}

/** The state of a move of a collection to the embedding model that the app declares. */
export interface Reembedding {
  /** The model that the app declares for the collection. */
  embedder: string;
  dimension: number;
  /** The number of entries that have got new vectors in this move, also by earlier calls. */
  moved: number;
  /** The collection belongs to the model. If it is false, call the method again. */
  done: boolean;
}

/** The options of an import of a file. */
export interface FileImport extends EntryPlace {
  /** The name of the file. The default is the name of the File. */
  name?: string;
  /**
   * Identifies the document in its namespace. An import replaces the entries of an earlier import with
   * the same source. The default is the name of the file.
   */
  source?: string;
  /** Values that become part of the metadata of each entry. */
  metadata?: { [name: string]: Json | undefined };
  /** The lifetime, such as "30d". The default is the retention of the collection. */
  ttl?: string;
}

export interface ImportedFile {
  source: string;
  /** The number of entries of the document. */
  entries: number;
  /** The number of entries that were stored already, without any difference. */
  unchanged: number;
  /** The number of entries of an earlier import of the document that were removed. */
  removed: number;
  /** The file has more text that was not imported, because it exceeds a limit or is unreadable. */
  truncated?: boolean;
}

/**
 * The collections of an app. The methods remember, importFile, reembed and forget require an operator's credentials.
 * Credentials of a user can read only the entries that belong to the user. Every method rejects with
 * a ToolrunError.
 */
export interface Collections {
  /** Describes the collections of the app. Credentials of a user cannot use it. */
  list(options?: CallOptions): Promise<Collection[]>;
  /**
   * Describes a collection. If it does not exist, the code is "not_found". Credentials of a user
   * cannot use it.
   */
  get(collection: string, options?: CallOptions): Promise<Collection>;
  /**
   * Lists entries. With a user or a session, the page contains only their entries and those of the
   * app. A page can be shorter than the limit.
   */
  entries<T = any>(collection: string, query?: EntryQuery, options?: CallOptions): Promise<Page<Entry<T>>>;
  allEntries<T = any>(collection: string, query?: EntryQuery, options?: CallOptions): AsyncGenerator<Entry<T>, void, void>;
  /** Reads an entry. If it does not exist, the code is "not_found". */
  entry<T = any>(collection: string, id: string, place?: EntryPlace, options?: CallOptions): Promise<Entry<T>>;
  /** Stores at most 100 entries in one transaction: all of them, or none. */
  remember(collection: string, entries: NewEntry[], owner?: EntryOwner, options?: CallOptions): Promise<StoredEntry[]>;
  /** Searches one namespace and returns the entries that match a query, the best match first. */
  recall<T = any>(collection: string, query: string, search?: EntrySearch, options?: CallOptions): Promise<FoundEntry<T>[]>;
  /** Removes at most 500 entries of one namespace. If more is true, call it again. */
  forget(collection: string, selector: EntrySelector, options?: CallOptions): Promise<Forgotten>;
  /**
   * Moves entries to the embedding model that the app declares, for about five seconds. Call it until
   * done is true. After an error, a further call continues.
   */
  reembed(collection: string, options?: CallOptions): Promise<Reembedding>;
  /**
   * Divides the text of a PDF, DOCX, TXT, Markdown or JSON file into entries. If the file is not a
   * File, it needs a name.
   */
  importFile(collection: string, file: Blob, options?: FileImport, callOptions?: CallOptions): Promise<ImportedFile>;
}

export interface FactQuery extends PageQuery {
  /** The first names of the paths, such as "user.travel". */
  prefix?: string;
  domain?: string;
}

export interface StartedSession<T = any> extends Session {
  /** The Result of the message's run; missing without a message. */
  result?: Result<T>;
}

export interface PageQuery {
  /** The member next of the previous page. */
  after?: string;
  /** The maximum number of items in a page, up to 1,000. The default is 100. */
  limit?: number;
}

export interface Page<T> {
  items: T[];
  /** The value of after for the next page; missing on the last page. */
  next?: string;
}

export interface UploadedFile {
  file_id: string;
  type: string;
  filename: string;
  mimetype: string;
  size: number;
  sha256: string;
  is_active: boolean;
  uploaded_at: string;
  expires_at: string;
  has_text: boolean;
  /** A part of the text is missing: the text exceeds a limit or is partly unreadable. */
  text_truncated?: boolean;
  /** The reason if has_text is false. */
  text_reason?: "unsupported_format" | "disabled" | "no_text" | "encrypted" | "damaged" | "too_complex" | "unknown_encoding";
  /** Anyone with the link can download the file. */
  download_url?: string;
}

export interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: Json;
  outputSchema?: Json;
  broken?: string;
}

export interface Prompt {
  name: string;
  description?: string;
}

export interface RenderedPrompt {
  name: string;
  text: string;
  /** The expressions without a value. */
  missing?: string[];
  /** Hidden messages for the current turn, with the archival mode "auto". */
  system_reminders?: string[];
}

export interface Store {
  technical_name: string;
  name?: string;
  description?: string;
  access: 'session' | 'user' | 'application';
  retention?: string;
  strict?: boolean;
  schema?: Json;
  /** Where the store is declared. The service sets this member. */
  declared?: 'file' | 'api' | 'built_in';
  /**
   * Likely mistakes in the schema, such as keywords without effect. Only responses to declarations
   * have this member.
   */
  mistakes?: { pointer: string; message: string; hint?: string }[];
  /**
   * The records that no longer match the schema. Only responses to changes of a declaration have
   * this member.
   */
  unfit?: { records: number; at_least?: boolean };
}

export interface StoredRecord<T = any> {
  content: T;
  /** The revision, which is also the ETag. It can be passed as ifRevision. */
  revision: number;
  created: string;
  updated_at: string;
  expires_at: string | null;
  /**
   * The schema violations, if the store is not strict. Only responses to writes have this member.
   */
  violations?: Violation[];
}

export interface ListedRecord extends Caller {
  store: string;
  item?: string;
  revision: number;
  bytes: number;
  created: string;
  updated_at: string;
  expires_at?: string;
}

export interface ConditionOptions extends CallOptions {
  /**
   * The revision that the record must have. 0 means that the record must not exist. If the record
   * has another revision, the call fails with status 412 and code "conflict".
   */
  ifRevision?: number;
}

export interface WriteOptions extends ConditionOptions {
  /** The lifetime of the record, such as "1h", if it is shorter than the store's retention. */
  ttl?: string;
}

export interface LedgerQuery extends PageQuery, Caller {
  tool?: string;
  store?: string;
  /** Select entries that contain writes. */
  writes?: boolean;
  /** Select entries that have a fault code. */
  failed?: boolean;
  /** Select entries at or after this time. */
  since?: Date | string;
  /** Select entries before this time. */
  until?: Date | string;
}

export interface LedgerEntry extends Caller {
  run_id: string;
  act: 'run' | 'dry_run' | 'turn' | 'evaluate' | 'render' | 'operate' | 'list' | 'purge' | 'erase' | 'declare' | 'export' | 'import' | 'download' | 'export_user' | 'request_approval' | 'approve' | 'deny' | 'expire_approval';
  /** The token of the approval that the entry is about. */
  approval?: string;
  /** The id of the downloaded file. */
  file_id?: string;
  tool?: string;
  actor?: string;
  at: string;
  /** The code of the fault; missing after success. */
  code?: string;
  attempts: number;
  reads: ReadEffect[] | null;
  writes: WriteEffect[] | null;
  /** The number of reads and writes that the entry omits because there are too many. */
  more?: number;
}

export interface UsageQuery {
  /** The first day, in UTC, such as "2026-11-01". */
  since?: Date | string;
  /** The day at whose start the period ends. */
  until?: Date | string;
  after?: string;
  /** The maximum number of apps in a page, up to 100. */
  limit?: number;
}

/**
 * The usage of an app in a tenant: the current size of the stored data, and the runs on the
 * requested days.
 */
export interface AppUsage {
  tenant: string;
  app: string;
  stored_bytes: number;
  stored_records: number;
  /**
   * The number of runs whose tool was executed. failed is the number of these runs that failed.
   */
  runs: number;
  failed: number;
  /** The number of responses that repeated the Result of an earlier run. */
  repeated: number;
  refused: number;
  not_started: number;
  /** The CPU time of tools in milliseconds. */
  cpu_ms: number;
  /** The number of requests to models, and their tokens. */
  model_calls: number;
  input_tokens: number;
  output_tokens: number;
}

export interface Erased {
  user_id: string;
  stores: { [store: string]: number };
  records: number;
  bytes: number;
  sessions: number;
  runs: number;
  workflows: number;
  files: number;
  ledger_entries: number;
  /** The number of entries in each collection with `erase: never`, which are kept. */
  kept_shared: { [collection: string]: number };
}

export interface Imported {
  stores: string[];
  left_out: { kind: 'app' | 'store' | 'tool' | 'prompt'; name: string; reason: string }[];
}

export interface Whoami extends Caller {
  name: string;
  role: string;
  tenant: string;
  apps: string[];
}

/**
 * The error of a failed call: a problem document of the service, a response of another server, or
 * no response.
 */
export class ToolrunError extends Error {
  name: 'ToolrunError';
  /** The fault code, such as "not_found", "access_denied", "input_invalid" or "unavailable". */
  code: string;
  /** The HTTP status, or 0 if there was no response. */
  status: number;
  hint?: string;
  store?: string;
  item?: string;
  violations: Violation[];
  /** The parts of the request that do not match the API. */
  details: { message: string; location?: string }[];
  runId?: string;
  /** "unknown" if no response arrived although the service has possibly executed the request. */
  outcome?: 'unknown';
  /** The delay in seconds before a retry, if the service has requested one. */
  retryAfter?: number;
}

/** Every method rejects with a ToolrunError. */
export class Client {
  /** Creates a client without connecting. It throws if an option is invalid. */
  constructor(options: ClientOptions);

  /** The blocks of users. */
  readonly memory: Memory;
  /** The collections of the app. */
  readonly collections: Collections;

  /**
   * Runs a tool once. If the tool fails, the Result contains the fault. The promise rejects only if
   * the tool could not be run.
   */
  run<T = any>(run: RunRequest, options?: RunOptions): Promise<Result<T>>;
  /**
   * Runs the source text in the request instead of a declared tool. It requires a key with the
   * permission code.
   */
  runCode<T = any>(run: CodeRequest, options?: RunOptions): Promise<Result<T>>;
  /**
   * Runs a tool and yields its log lines as they arrive, then the Result. Leaving the loop early
   * cancels the run.
   */
  streamRun<T = any>(run: RunRequest, options?: StreamOptions): AsyncGenerator<RunEvent<T>, void, void>;
  /** Is like runCode, but yields the same events as streamRun. */
  streamRunCode<T = any>(run: CodeRequest, options?: StreamOptions): AsyncGenerator<RunEvent<T>, void, void>;
  /**
   * Returns the state of a run that was started with this key. Operators can get every run. A run
   * is available for up to 10 minutes after its end.
   */
  runById<T = any>(id: string, options?: CallOptions): Promise<Run<T>>;
  /**
   * Cancels a run that runById can return. The run ends soon. It stores nothing, unless its commit
   * has begun.
   */
  cancelRun<T = any>(id: string, options?: CallOptions): Promise<Run<T>>;
  tools(options?: CallOptions): Promise<Tool[]>;

  /** Lists the agents. */
  agents(options?: CallOptions): Promise<Agent[]>;

  /**
   * Performs one turn of a conversation. If the turn fails, the result contains the fault. The
   * promise rejects only if no turn was performed.
   */
  turn(agent: string, turn?: TurnRequest, options?: RunOptions): Promise<Turn>;

  /** Returns the first request that a turn would send to a model. It stores nothing. */
  previewTurn(agent: string, turn?: TurnRequest, options?: CallOptions): Promise<Preview>;

  /** Fires an event and returns what the agent recalls. No flow is executed. */
  fireEvent(agent: string, event: EventRequest, options?: RunOptions): Promise<Evaluation>;

  /** Checks the constraints of an agent at a checkpoint. */
  checkConstraints(agent: string, check?: CheckRequest, options?: CallOptions): Promise<Evaluation>;

  /** Evaluates the triggers of an agent, as at the end of a turn. */
  evaluateTriggers(agent: string, triggers?: RuleFields, options?: RunOptions): Promise<Evaluation>;

  /**
   * Starts a session. By default, the service creates its id. If the session is already open, start
   * changes its metadata and references.
   */
  startSession<T = any>(start?: SessionRequest, options?: RunOptions): Promise<StartedSession<T>>;
  session(caller: SessionCaller, options?: CallOptions): Promise<Session>;
  /** Changes the metadata with a JSON Merge Patch (RFC 7396). */
  setMetadata(caller: SessionCaller, patch: { [name: string]: unknown }, options?: CallOptions): Promise<Session>;
  /** Ends the session. Its data is removed, and its id is rejected from then on. */
  endSession(caller: SessionCaller, options?: CallOptions): Promise<Session>;
  /** Returns a page of sessions, sorted by id. */
  sessions(query?: PageQuery & { user_id?: string }, options?: CallOptions): Promise<Page<Session>>;
  allSessions(query?: PageQuery & { user_id?: string }, options?: CallOptions): AsyncGenerator<Session, void, void>;

  /**
   * Adds messages to the transcript of the session, from which sleep-time memory updates the blocks of
   * the user. `agent_id` is the agent that was active. If the session does not exist, it is started.
   */
  addMessages(caller: SessionCaller, messages: Message[], options?: CallOptions): Promise<{ session_id: string; messages: number }>;

  /** Returns a page of the effects that wait for an approval. With all, it includes those that were decided. */
  approvals(query?: { user_id?: string; all?: boolean; after?: string }, options?: CallOptions): Promise<Page<Approval>>;
  allApprovals(query?: { user_id?: string; all?: boolean; after?: string }, options?: CallOptions): AsyncGenerator<Approval, void, void>;
  approval(token: string, options?: CallOptions): Promise<Approval>;
  /** Approves an effect. The Result is that of its run, which can be paused again. */
  approve(token: string, options?: CallOptions): Promise<Result>;
  /** Denies an effect. The Result is that of its run, which has failed. */
  deny(token: string, reason?: string, options?: CallOptions): Promise<Result>;

  /** Describes the sleep-time memory of the app. */
  sleepStatus(options?: CallOptions): Promise<SleepStatus>;
  /** Pauses sleep-time memory. Runs in progress continue. */
  pauseSleep(options?: CallOptions): Promise<SleepStatus>;
  resumeSleep(options?: CallOptions): Promise<SleepStatus>;
  /** Makes conversations due whose last run of sleep-time memory has failed, at most 1,000 of them. */
  retrySleep(options?: CallOptions): Promise<SleepStatus>;

  workflow(caller: WorkflowCaller, options?: CallOptions): Promise<Workflow>;
  /** Ends the workflow. Its facts are removed, and its id is rejected from then on. */
  endWorkflow(caller: WorkflowCaller, options?: CallOptions): Promise<Workflow>;
  /** Returns a page of workflows, sorted by id. */
  workflows(query?: PageQuery & { user_id?: string }, options?: CallOptions): Promise<Page<Workflow>>;
  allWorkflows(query?: PageQuery & { user_id?: string }, options?: CallOptions): AsyncGenerator<Workflow, void, void>;

  /** Reads a fact as an operator. */
  fact(caller: Caller, path: string, options?: CallOptions): Promise<Fact>;
  /** Stores the value of a fact. `ttl` replaces the declared one. */
  setFact(caller: Caller, path: string, value: unknown, options?: WriteOptions): Promise<Fact>;
  deleteFact(caller: Caller, path: string, options?: ConditionOptions): Promise<{ success: true; deleted: boolean }>;
  /** Returns a page of the stored facts of the caller and of the app. */
  facts(caller: Caller, query?: FactQuery, options?: CallOptions): Promise<Page<Fact>>;
  allFacts(caller: Caller, query?: FactQuery, options?: CallOptions): AsyncGenerator<Fact, void, void>;

  /**
   * Uploads a file to the session. If the session does not exist, it is started. A Blob requires a
   * name.
   */
  uploadFile(caller: SessionCaller, file: Blob, options?: CallOptions & { name?: string }): Promise<UploadedFile>;
  files(caller: SessionCaller, options?: CallOptions): Promise<UploadedFile[]>;
  changeFile(caller: SessionCaller, id: string, change: { is_active: boolean }, options?: CallOptions): Promise<UploadedFile>;
  /**
   * Removes a file of the caller's session and returns its description. Its `download_url` becomes
   * invalid.
   */
  deleteFile(caller: SessionCaller, id: string, options?: CallOptions): Promise<UploadedFile>;
  /** Downloads a file. Its name is untrusted text: do not use it as a path. */
  file(caller: SessionCaller, id: string, options?: CallOptions): Promise<File>;

  prompts(options?: CallOptions): Promise<Prompt[]>;
  /**
   * Renders a prompt. It can read the stores of the caller that are granted to it. missing lists
   * the expressions without a value. memory_policy determines which blocks the prompt contains.
   */
  render(caller: Caller, prompt: string, options?: CallOptions & { message?: string; memory_policy?: MemoryPolicy }): Promise<RenderedPrompt>;

  stores(options?: CallOptions): Promise<Store[]>;
  store(name: string, options?: CallOptions): Promise<Store>;
  /** Declares a store in addition to the stores in the app file. */
  createStore(store: Store, options?: CallOptions): Promise<Store>;
  /** Replaces the declaration of a store that was created through the API. */
  changeStore(store: Store, options?: CallOptions): Promise<Store>;

  /**
   * Reads a record. A projection such as {"preferences.language": 1} selects members of the
   * content. If no record exists, the code is "not_found".
   */
  record<T = any>(caller: Caller, store: string, options?: CallOptions & { projection?: { [path: string]: unknown } }): Promise<StoredRecord<T>>;
  /** Replaces the content of a record. If no record exists, it is created. */
  putRecord<T = any>(caller: Caller, store: string, content: T, options?: WriteOptions): Promise<StoredRecord<T>>;
  /** Merges a JSON Merge Patch (RFC 7396) into a record. If no record exists, it is created. */
  patchRecord<T = any>(caller: Caller, store: string, patch: unknown, options?: WriteOptions): Promise<StoredRecord<T>>;
  /** Deletes a record and reports whether it existed. */
  deleteRecord(caller: Caller, store: string, options?: ConditionOptions): Promise<{ success: true; deleted: boolean }>;
  /**
   * Returns a page of the records of a store, without their contents. If a page has next, there are
   * more pages, even if the page contains fewer records than the limit.
   */
  records(caller: Caller, store: string, query?: PageQuery, options?: CallOptions): Promise<Page<ListedRecord>>;
  allRecords(caller: Caller, store: string, query?: PageQuery, options?: CallOptions): AsyncGenerator<ListedRecord, void, void>;
  /** Removes all records of a store, of all users and sessions, and returns their number. */
  purgeStore(store: string, options?: CallOptions): Promise<number>;
  /** Removes all data of a user. It cannot be undone. */
  eraseUser(user: string, options?: CallOptions): Promise<Erased>;
  /**
   * Downloads the data of a user that eraseUser would remove, as a ZIP archive. It contains the
   * uploaded files, and lists with one JSON value per line. The stream fails if the archive is
   * incomplete.
   */
  exportUser(user: string, options?: CallOptions): Promise<ReadableStream<Uint8Array>>;

  /**
   * Returns a page of the ledger, oldest entries first. If a page has next, there are more pages,
   * even if the page contains fewer entries than the limit.
   */
  ledger(query?: LedgerQuery, options?: CallOptions): Promise<Page<LedgerEntry>>;
  ledgerEntries(query?: LedgerQuery, options?: CallOptions): AsyncGenerator<LedgerEntry, void, void>;

  /**
   * Returns a page of the usage of the tenant's apps. With a key that has the role metering, it
   * includes the apps of all tenants.
   */
  usage(query?: UsageQuery, options?: CallOptions): Promise<Page<AppUsage>>;
  allUsage(query?: UsageQuery, options?: CallOptions): AsyncGenerator<AppUsage, void, void>;

  /**
   * Returns the configuration of the app as an app file in JSON. It does not contain stored data.
   */
  exportApp(options?: CallOptions): Promise<{ [member: string]: Json }>;
  /**
   * Declares the stores in a document that the app file does not declare. left_out lists everything
   * else in the document.
   */
  importStores(document: unknown, options?: CallOptions): Promise<Imported>;
  /**
   * Downloads a backup of the whole service with the data of all tenants. It requires a key with
   * the role backup. The stream fails if the backup is incomplete.
   */
  backup(options?: CallOptions): Promise<{ size: number; content: ReadableStream<Uint8Array> }>;
  /** Returns the identity of the key and the apps that it can use. */
  whoami(options?: CallOptions): Promise<Whoami>;
}
