// Types of the client of the service: import { Client } from '@toolrun/sdk/client'. Members of
// requests and responses have the same names as in the HTTP API. Times are strings in the format of
// RFC 3339.

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

export interface ClientOptions {
  /** The URL of the service, such as https://tools.example. It may have a path. */
  url: string;
  /**
   * An API key or a token. It is only sent to this URL, never to a redirect, and errors do not
   * contain it.
   */
  key?: string;
  /** The id of the app. Default: the app of a key for a single app. */
  app?: string;
  /** Sends the requests. Default: the global fetch. */
  fetch?: typeof fetch;
  /** The number of retries of a repeatable request when the service is busy. Default 3. */
  retries?: number;
}

export interface CallOptions {
  /** Cancels the request. A run of the request then stores nothing, unless its commit has begun. */
  signal?: AbortSignal;
}

export interface RunOptions extends CallOptions {
  /**
   * For 24 hours, a request with the same key and input returns the Result of the first successful
   * run.
   */
  idempotencyKey?: string;
}

export interface StreamOptions extends RunOptions {
  /** Receives the id of the run before its first line, even while the run is queued. */
  onRunId?: (id: string) => void;
}

/** The user and session that a request acts for. A user's credentials only act for that user. */
export interface Caller {
  user_id?: string;
  session_id?: string;
}

export interface SessionCaller extends Caller {
  session_id: string;
}

export interface RunFields extends Caller {
  /** A JSON object. Without it, the input is the message. */
  input?: { [name: string]: unknown };
  /** The user's message. */
  message?: string;
  /** A merge patch (RFC 7396) for the session's metadata. */
  metadata?: { [name: string]: unknown };
  context?: { [name: string]: unknown };
  session_reference?: string;
  user_reference?: string;
  env?: { [name: string]: string };
  timeout_ms?: number;
  /** Store nothing; the changes that would be stored are in the Result. */
  dry_run?: boolean;
}

export interface RunRequest extends RunFields {
  /** Default: the app's default_tool, or its only tool. */
  tool?: string;
}

export interface CodeRequest extends RunFields {
  /** The name of the tool in the Result. Default: code. */
  name?: string;
  language: 'javascript' | 'typescript' | 'python';
  code: string;
  /** The grants by store: read, write, delete or readwrite, or several separated by commas. */
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
  /** The keys that the tool added to its context or changed. */
  context?: { [name: string]: Json };
  logs: LogLine[];
  warnings: string[];
  usage: { wall_ms: number; cpu_ms: number; memory_bytes?: number; host_calls: number };
  effects: { reads: ReadEffect[]; writes: WriteEffect[] };
  changes?: { store: string; item?: string; before: Json; after: Json }[];
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

/** The Result of a run. ok reports whether it succeeded and its writes are stored. */
export type Result<T = any> = RunReport & ({ ok: true; output: T; error?: undefined } | { ok: false; output: null; error: Fault });

/** The state of a run, by its id. */
export interface Run<T = any> extends Caller {
  run_id: string;
  tool: string;
  /**
   * queued: it waits for the compilation of its tool or for admission; done: it has ended,
   * successfully or not.
   */
  status: 'queued' | 'running' | 'done';
  /** Its cancellation was requested; the result shows whether it came in time. */
  cancelled?: boolean;
  created: string;
  started?: string;
  ended?: string;
  /** The latest time at which the state of an ended run is removed. */
  expires_at?: string;
  /** Missing until the run has ended, and if it is larger than 4 MiB. */
  result?: Result<T>;
}

/** An event of a streamed run: a log line of the tool or, as the last event, the Result. */
export type RunEvent<T = any> = { log: LogLine & { attempt: number }; result?: undefined } | { log?: undefined; result: Result<T> };

export interface SessionRequest extends Caller {
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

export interface StartedSession<T = any> extends Session {
  /** The Result of the message's run; missing without a message. */
  result?: Result<T>;
}

export interface PageQuery {
  /** The member next of the previous page. */
  after?: string;
  /** The maximum number of items of a page, up to 1,000. Default 100. */
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
  /** Some of the text is missing: it exceeds a limit, or could not be read to its end. */
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

export interface Store {
  technical_name: string;
  name?: string;
  description?: string;
  access: 'session' | 'user' | 'application';
  retention?: string;
  strict?: boolean;
  schema?: Json;
  /** Where it is declared; set by the service. */
  declared?: 'file' | 'api' | 'built_in';
  /**
   * Likely mistakes of the schema: keywords without an effect; in the response to a declaration.
   */
  mistakes?: { pointer: string; message: string; hint?: string }[];
  /** The records that no longer match the schema; in the response to a change. */
  unfit?: { records: number; at_least?: boolean };
}

export interface StoredRecord<T = any> {
  content: T;
  /** The number in the ETag; pass it as ifRevision. */
  revision: number;
  created: string;
  updated_at: string;
  expires_at: string | null;
  /** The schema violations, for a store that is not strict; in the response to a write. */
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
   * The required revision of the record, 0 for no record. Otherwise the call fails with status 412
   * and code "conflict".
   */
  ifRevision?: number;
}

export interface WriteOptions extends ConditionOptions {
  /** A shorter lifetime of the record than the store's retention, such as "1h". */
  ttl?: string;
}

export interface LedgerQuery extends PageQuery, Caller {
  tool?: string;
  store?: string;
  /** Entries that wrote something. */
  writes?: boolean;
  /** Entries that ended with a fault. */
  failed?: boolean;
  /** Entries from this time on. */
  since?: Date | string;
  /** Entries before this time. */
  until?: Date | string;
}

export interface LedgerEntry extends Caller {
  run_id: string;
  act: 'run' | 'dry_run' | 'render' | 'operate' | 'list' | 'purge' | 'erase' | 'declare' | 'export' | 'import' | 'download' | 'export_user';
  /** The file that was downloaded. */
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
  /** The day after the last one. */
  until?: Date | string;
  after?: string;
  /** The maximum number of apps of a page, up to 100. */
  limit?: number;
}

/** The usage of an app in a tenant: the stored data now, and the runs of the requested days. */
export interface AppUsage {
  tenant: string;
  app: string;
  stored_bytes: number;
  stored_records: number;
  /** The runs whose tool was executed; failed is the number of them that ended with a fault. */
  runs: number;
  failed: number;
  /** Responses with the Result of an earlier run. */
  repeated: number;
  refused: number;
  not_started: number;
  /** Processor time of tools in milliseconds. */
  cpu_ms: number;
}

export interface Erased {
  user_id: string;
  stores: { [store: string]: number };
  records: number;
  bytes: number;
  sessions: number;
  runs: number;
  files: number;
  ledger_entries: number;
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
  /** The cause: "not_found", "access_denied", "input_invalid", "unavailable", ... */
  code: string;
  /** The HTTP status; 0 without a response. */
  status: number;
  hint?: string;
  store?: string;
  item?: string;
  violations: Violation[];
  /** The parts of the request that do not match the API. */
  details: { message: string; location?: string }[];
  runId?: string;
  /** "unknown" if the request may have been carried out although no response arrived. */
  outcome?: 'unknown';
  /** The delay in seconds after which the service asks to retry. */
  retryAfter?: number;
}

/** Every method rejects with a ToolrunError. */
export class Client {
  /** Creates a client without connecting. It throws if an option is invalid. */
  constructor(options: ClientOptions);

  /**
   * Runs a tool once. A failure of the tool is in the Result; the promise rejects if the tool could
   * not run.
   */
  run<T = any>(run: RunRequest, options?: RunOptions): Promise<Result<T>>;
  /** Runs code that no app declares. The key needs the permission to do so. */
  runCode<T = any>(run: CodeRequest, options?: RunOptions): Promise<Result<T>>;
  /**
   * Runs a tool and yields its log lines as they arrive, then the Result. Leaving the loop earlier
   * cancels the run.
   */
  streamRun<T = any>(run: RunRequest, options?: StreamOptions): AsyncGenerator<RunEvent<T>, void, void>;
  /** Runs code like runCode, with the events of streamRun. */
  streamRunCode<T = any>(run: CodeRequest, options?: StreamOptions): AsyncGenerator<RunEvent<T>, void, void>;
  /**
   * Returns a run that this key started, or any run for an operator, until at most 10 minutes after
   * its end.
   */
  runById<T = any>(id: string, options?: CallOptions): Promise<Run<T>>;
  /**
   * Cancels a run that runById returns. It ends soon and stores nothing, unless its commit has
   * begun.
   */
  cancelRun<T = any>(id: string, options?: CallOptions): Promise<Run<T>>;
  tools(options?: CallOptions): Promise<Tool[]>;

  /** Starts a session, with a new id by default, or changes an open one. */
  startSession<T = any>(start?: SessionRequest, options?: RunOptions): Promise<StartedSession<T>>;
  session(caller: SessionCaller, options?: CallOptions): Promise<Session>;
  /** Changes the metadata by a merge patch (RFC 7396). */
  setMetadata(caller: SessionCaller, patch: { [name: string]: unknown }, options?: CallOptions): Promise<Session>;
  /** Ends the session. Its data are removed, and its id is rejected from then on. */
  endSession(caller: SessionCaller, options?: CallOptions): Promise<Session>;
  /** Returns a page of sessions, sorted by id. */
  sessions(query?: PageQuery & { user_id?: string }, options?: CallOptions): Promise<Page<Session>>;
  allSessions(query?: PageQuery & { user_id?: string }, options?: CallOptions): AsyncGenerator<Session, void, void>;

  /** Uploads a file to the session, which it starts if necessary. A Blob needs a name. */
  uploadFile(caller: SessionCaller, file: Blob, options?: CallOptions & { name?: string }): Promise<UploadedFile>;
  files(caller: SessionCaller, options?: CallOptions): Promise<UploadedFile[]>;
  changeFile(caller: SessionCaller, id: string, change: { is_active: boolean }, options?: CallOptions): Promise<UploadedFile>;
  /**
   * Removes a file of the caller's session with its text and returns it. Its `download_url` becomes
   * invalid.
   */
  deleteFile(caller: SessionCaller, id: string, options?: CallOptions): Promise<UploadedFile>;
  /** Downloads a file. Its name is untrusted text: do not use it as a path. */
  file(caller: SessionCaller, id: string, options?: CallOptions): Promise<File>;

  prompts(options?: CallOptions): Promise<Prompt[]>;
  /**
   * Renders a prompt with the caller's memory that its grants allow. missing lists the expressions
   * without a value.
   */
  render(caller: Caller, prompt: string, options?: CallOptions): Promise<{ name: string; text: string; missing?: string[] }>;

  stores(options?: CallOptions): Promise<Store[]>;
  store(name: string, options?: CallOptions): Promise<Store>;
  /** Declares a store in addition to those of the app file. */
  createStore(store: Store, options?: CallOptions): Promise<Store>;
  /** Replaces the declaration of a store that was created through the API. */
  changeStore(store: Store, options?: CallOptions): Promise<Store>;

  /**
   * Reads a record, or the members of a projection such as {"preferences.language": 1}. The code
   * "not_found" means no record.
   */
  record<T = any>(caller: Caller, store: string, options?: CallOptions & { projection?: { [path: string]: unknown } }): Promise<StoredRecord<T>>;
  /** Replaces the content of a record, or creates it. */
  putRecord<T = any>(caller: Caller, store: string, content: T, options?: WriteOptions): Promise<StoredRecord<T>>;
  /** Merges a patch (RFC 7396) into a record, or creates it. */
  patchRecord<T = any>(caller: Caller, store: string, patch: unknown, options?: WriteOptions): Promise<StoredRecord<T>>;
  /** Deletes a record and reports whether it existed. */
  deleteRecord(caller: Caller, store: string, options?: ConditionOptions): Promise<{ success: true; deleted: boolean }>;
  /**
   * Returns a page of the records of a store, without their contents. A page with next is not the
   * last, even if it is short.
   */
  records(caller: Caller, store: string, query?: PageQuery, options?: CallOptions): Promise<Page<ListedRecord>>;
  allRecords(caller: Caller, store: string, query?: PageQuery, options?: CallOptions): AsyncGenerator<ListedRecord, void, void>;
  /** Removes all records of a store, of all users and sessions, and returns their number. */
  purgeStore(store: string, options?: CallOptions): Promise<number>;
  /** Removes all data of a user. It cannot be undone. */
  eraseUser(user: string, options?: CallOptions): Promise<Erased>;
  /**
   * Downloads all data of a user that eraseUser would remove: a ZIP archive of files and of lists
   * with one JSON value per line. The stream fails if it is incomplete.
   */
  exportUser(user: string, options?: CallOptions): Promise<ReadableStream<Uint8Array>>;

  /**
   * Returns a page of the ledger, oldest entries first. A page with next is not the last, even if
   * it is short.
   */
  ledger(query?: LedgerQuery, options?: CallOptions): Promise<Page<LedgerEntry>>;
  ledgerEntries(query?: LedgerQuery, options?: CallOptions): AsyncGenerator<LedgerEntry, void, void>;

  /**
   * Returns a page of the usage of the tenant's apps, or of all tenants for a key of role metering.
   */
  usage(query?: UsageQuery, options?: CallOptions): Promise<Page<AppUsage>>;
  allUsage(query?: UsageQuery, options?: CallOptions): AsyncGenerator<AppUsage, void, void>;

  /** Returns the configuration of the app: an app file in JSON, without stored data. */
  exportApp(options?: CallOptions): Promise<{ [member: string]: Json }>;
  /**
   * Declares the stores of a document that the app file does not declare. left_out lists everything
   * else in the document.
   */
  importStores(document: unknown, options?: CallOptions): Promise<Imported>;
  /**
   * Downloads a backup of the whole service with the data of all tenants, for a key of role backup.
   * The stream fails if it is incomplete.
   */
  backup(options?: CallOptions): Promise<{ size: number; content: ReadableStream<Uint8Array> }>;
  /** Returns the identity of the key and the apps that it can use. */
  whoami(options?: CallOptions): Promise<Whoami>;
}
