// Types of the client of the service: import { Client } from '@toolrun/sdk/client'. The members of requests and answers
// are named as on the wire, and times are texts as RFC 3339 has them.

/** Anything that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

export interface ClientOptions {
  /** Where the service is, such as https://tools.example; it may have a path. */
  url: string;
  /** An API key or a token. It is sent to this URL alone, is in no error, and follows no redirect. */
  key?: string;
  /** The id of the app that requests are about. Default: the only one that the key is for. */
  app?: string;
  /** Sends the requests. Default: the global fetch. */
  fetch?: typeof fetch;
  /** How often a request that is safe to repeat is sent again when the service is busy. Default 3. */
  retries?: number;
}

export interface CallOptions {
  /** Cancels the request; a run that it asked for then stores nothing, unless it was being stored already. */
  signal?: AbortSignal;
}

export interface RunOptions extends CallOptions {
  /** The same key and input are answered with the Result of the first run that succeeded, for 24 hours. */
  idempotencyKey?: string;
}

export interface StreamOptions extends RunOptions {
  /** Gets the id of the run before its first line, also while the run waits for its turn. */
  onRunId?: (id: string) => void;
}

/** For whom a request acts. Credentials of a user act for that user alone. */
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
  /** What the user said. */
  message?: string;
  /** A merge patch (RFC 7396) on the session's metadata. */
  metadata?: { [name: string]: unknown };
  context?: { [name: string]: unknown };
  session_reference?: string;
  user_reference?: string;
  env?: { [name: string]: string };
  timeout_ms?: number;
  /** Store nothing; the Result's changes tell what would be. */
  dry_run?: boolean;
}

export interface RunRequest extends RunFields {
  /** Default: the app's default_tool, or its only tool. */
  tool?: string;
}

export interface CodeRequest extends RunFields {
  /** What the Result calls it. Default: code. */
  name?: string;
  language: 'javascript' | 'typescript' | 'python';
  code: string;
  /** What the code may do with stores: read, write, delete, readwrite, or several with commas. */
  grants?: { [store: string]: string };
}

export interface Violation {
  /** JSON Pointer of the value, "" for the root. */
  pointer: string;
  /** The keyword of the schema that refused it. */
  keyword: string;
  limit?: Json;
  existing?: boolean;
}

/** Why a run failed. */
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
  /** Keys that the tool added to its context, or changed there. */
  context?: { [name: string]: Json };
  logs: LogLine[];
  warnings: string[];
  usage: { wall_ms: number; cpu_ms: number; memory_bytes?: number; host_calls: number };
  effects: { reads: ReadEffect[]; writes: WriteEffect[] };
  changes?: { store: string; item?: string; before: Json; after: Json }[];
  attempts: number;
  /** Whether an idempotency key was answered with the Result of an earlier run. */
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

/** What a run answers: ok says whether it succeeded, and everything it wrote is stored. */
export type Result<T = any> = RunReport & ({ ok: true; output: T; error?: undefined } | { ok: false; output: null; error: Fault });

/** A run as a request for its id finds it. */
export interface Run<T = any> extends Caller {
  run_id: string;
  tool: string;
  /** queued: it waits for its tool to be compiled, or for its turn; done: it has ended, however. */
  status: 'queued' | 'running' | 'done';
  /** It was asked to be cancelled; the result says whether that was in time. */
  cancelled?: boolean;
  created: string;
  started?: string;
  ended?: string;
  /** When a run that has ended is not found any more, at the latest. */
  expires_at?: string;
  /** Missing until it has ended, and if it has more than 4 MiB. */
  result?: Result<T>;
}

/** An event of a run that is streamed: a line that the tool logged, or what came of the run, which is the last one. */
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
  /** What came of the message; missing if there was none. */
  result?: Result<T>;
}

export interface PageQuery {
  /** The next of the page before. */
  after?: string;
  /** How many items a page has at most, up to 1,000. Default 100. */
  limit?: number;
}

export interface Page<T> {
  items: T[];
  /** Asks for the page after this one; missing on the last. */
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
  /** Says why has_text is false. */
  text_reason?: "unsupported_format" | "disabled" | "no_text" | "encrypted" | "damaged" | "too_complex" | "unknown_encoding";
  /** Whoever has it has the file. */
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
  /** Where it is declared; told by the service. */
  declared?: 'file' | 'api' | 'built_in';
  /** What the schema seems to check and does not; in the answer to a declaration. */
  mistakes?: { pointer: string; message: string; hint?: string }[];
  /** Records that no longer fit; in the answer to a change. */
  unfit?: { records: number; at_least?: boolean };
}

export interface StoredRecord<T = any> {
  content: T;
  /** The ETag's number: give it as ifRevision. */
  revision: number;
  created: string;
  updated_at: string;
  expires_at: string | null;
  /** What does not fit the schema of a store that is not strict; in the answer to a write. */
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
  /** The revision that the record must have, 0 for that there must be none; else the status is 412, the code "conflict". */
  ifRevision?: number;
}

export interface WriteOptions extends ConditionOptions {
  /** Lets the record end earlier than its store says, such as "1h". */
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
  /** How it ended; missing where it succeeded. */
  code?: string;
  attempts: number;
  reads: ReadEffect[] | null;
  writes: WriteEffect[] | null;
  /** How many reads and writes the entry leaves out, because there are too many. */
  more?: number;
}

export interface UsageQuery {
  /** The first day, in UTC, such as "2026-11-01". */
  since?: Date | string;
  /** The day after the last one. */
  until?: Date | string;
  after?: string;
  /** How many apps a page has at most, up to 100. */
  limit?: number;
}

/** What an app in a tenant uses: what is stored now, and runs of the days that were asked for. */
export interface AppUsage {
  tenant: string;
  app: string;
  stored_bytes: number;
  stored_records: number;
  /** Runs whose tool was executed; failed counts those of them that ended with a fault. */
  runs: number;
  failed: number;
  /** Answers with an earlier run's result. */
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

/** Why a call failed: a problem document of the service, an answer that is not the service's, or that there was none. */
export class ToolrunError extends Error {
  name: 'ToolrunError';
  /** What happened: "not_found", "access_denied", "input_invalid", "unavailable", ... */
  code: string;
  /** The HTTP status; 0 where there was no answer. */
  status: number;
  hint?: string;
  store?: string;
  item?: string;
  violations: Violation[];
  /** What in the request does not fit the API. */
  details: { message: string; location?: string }[];
  runId?: string;
  /** "unknown" where the request may have been carried out although no answer came. */
  outcome?: 'unknown';
  /** In how many seconds the service says to ask again. */
  retryAfter?: number;
}

/** Every method rejects with a ToolrunError. */
export class Client {
  /** Connects to nothing. A mistake in the options is thrown. */
  constructor(options: ClientOptions);

  /** Runs a tool once. The Result also tells that the tool failed; what kept it from running rejects. */
  run<T = any>(run: RunRequest, options?: RunOptions): Promise<Result<T>>;
  /** Runs code that no app declares. It takes a key with the right to. */
  runCode<T = any>(run: CodeRequest, options?: RunOptions): Promise<Result<T>>;
  /** Runs a tool: its log lines as they happen, then the Result. Leaving the loop before cancels the run. */
  streamRun<T = any>(run: RunRequest, options?: StreamOptions): AsyncGenerator<RunEvent<T>, void, void>;
  /** Runs code as streamRun does a tool. */
  streamRunCode<T = any>(run: CodeRequest, options?: StreamOptions): AsyncGenerator<RunEvent<T>, void, void>;
  /** Describes a run that the key asked for, and for an operator any: while it goes on, and for 10 minutes after at most. */
  runById<T = any>(id: string, options?: CallOptions): Promise<Run<T>>;
  /** Cancels a run that runById finds: it ends soon, and stores nothing unless it is being stored already. */
  cancelRun<T = any>(id: string, options?: CallOptions): Promise<Run<T>>;
  tools(options?: CallOptions): Promise<Tool[]>;

  /** Starts a session, with a new id where none is named, or changes one that is open. */
  startSession<T = any>(start?: SessionRequest, options?: RunOptions): Promise<StartedSession<T>>;
  session(caller: SessionCaller, options?: CallOptions): Promise<Session>;
  /** Changes the metadata by a merge patch (RFC 7396). */
  setMetadata(caller: SessionCaller, patch: { [name: string]: unknown }, options?: CallOptions): Promise<Session>;
  /** Ends the session: what lived with it is gone, and its id is refused from then on. */
  endSession(caller: SessionCaller, options?: CallOptions): Promise<Session>;
  /** A page of sessions, sorted by their ids. */
  sessions(query?: PageQuery & { user_id?: string }, options?: CallOptions): Promise<Page<Session>>;
  allSessions(query?: PageQuery & { user_id?: string }, options?: CallOptions): AsyncGenerator<Session, void, void>;

  /** Uploads a file to the session, which begins where it has not. A Blob takes a name. */
  uploadFile(caller: SessionCaller, file: Blob, options?: CallOptions & { name?: string }): Promise<UploadedFile>;
  files(caller: SessionCaller, options?: CallOptions): Promise<UploadedFile[]>;
  changeFile(caller: SessionCaller, id: string, change: { is_active: boolean }, options?: CallOptions): Promise<UploadedFile>;
  /** Removes a file of the caller's session with its text, and answers what it was; its `download_url` ends. */
  deleteFile(caller: SessionCaller, id: string, options?: CallOptions): Promise<UploadedFile>;
  /** Downloads a file. Its name is a stranger's text, and not a path to write to. */
  file(caller: SessionCaller, id: string, options?: CallOptions): Promise<File>;

  prompts(options?: CallOptions): Promise<Prompt[]>;
  /** Renders a prompt with what it may read of the caller's memory; missing are expressions that rendered as nothing. */
  render(caller: Caller, prompt: string, options?: CallOptions): Promise<{ name: string; text: string; missing?: string[] }>;

  stores(options?: CallOptions): Promise<Store[]>;
  store(name: string, options?: CallOptions): Promise<Store>;
  /** Declares a store beside those of the app file. */
  createStore(store: Store, options?: CallOptions): Promise<Store>;
  /** Replaces the declaration of a store that was created through the API. */
  changeStore(store: Store, options?: CallOptions): Promise<Store>;

  /** Reads a record; a projection such as {"preferences.language": 1} picks members. None is the code "not_found". */
  record<T = any>(caller: Caller, store: string, options?: CallOptions & { projection?: { [path: string]: unknown } }): Promise<StoredRecord<T>>;
  /** Replaces the content of a record, or creates it. */
  putRecord<T = any>(caller: Caller, store: string, content: T, options?: WriteOptions): Promise<StoredRecord<T>>;
  /** Merges a patch (RFC 7396) into a record, or creates it. */
  patchRecord<T = any>(caller: Caller, store: string, patch: unknown, options?: WriteOptions): Promise<StoredRecord<T>>;
  /** Deletes a record, and says whether there was one. */
  deleteRecord(caller: Caller, store: string, options?: ConditionOptions): Promise<{ success: true; deleted: boolean }>;
  /** A page of the records of a store, without their contents. It may hold less than was asked for; there is more while it has a next. */
  records(caller: Caller, store: string, query?: PageQuery, options?: CallOptions): Promise<Page<ListedRecord>>;
  allRecords(caller: Caller, store: string, query?: PageQuery, options?: CallOptions): AsyncGenerator<ListedRecord, void, void>;
  /** Removes all records of a store, of all users and sessions, and says how many. */
  purgeStore(store: string, options?: CallOptions): Promise<number>;
  /** Removes everything of a user. It cannot be undone. */
  eraseUser(user: string, options?: CallOptions): Promise<Erased>;
  /**
   * Downloads all data of a user, which eraseUser would remove: a ZIP archive of lists with one JSON value a line, and of
   * files. The stream fails unless all of it comes.
   */
  exportUser(user: string, options?: CallOptions): Promise<ReadableStream<Uint8Array>>;

  /** A page of the ledger, oldest entries first. It may hold less than was asked for; there is more while it has a next. */
  ledger(query?: LedgerQuery, options?: CallOptions): Promise<Page<LedgerEntry>>;
  ledgerEntries(query?: LedgerQuery, options?: CallOptions): AsyncGenerator<LedgerEntry, void, void>;

  /** A page of what the apps of the tenant use; of all tenants, for a key of role metering. */
  usage(query?: UsageQuery, options?: CallOptions): Promise<Page<AppUsage>>;
  allUsage(query?: UsageQuery, options?: CallOptions): AsyncGenerator<AppUsage, void, void>;

  /** The configuration of the app: an app file in JSON, without anything that is stored. */
  exportApp(options?: CallOptions): Promise<{ [member: string]: Json }>;
  /** Declares the stores of a document that the app's file does not; left_out is what else the document has. */
  importStores(document: unknown, options?: CallOptions): Promise<Imported>;
  /**
   * Downloads a backup of the whole service, with the content of all tenants, for a key of role backup. The stream fails
   * unless all of it comes.
   */
  backup(options?: CallOptions): Promise<{ size: number; content: ReadableStream<Uint8Array> }>;
  /** Whose the key is, and what apps it may use. */
  whoami(options?: CallOptions): Promise<Whoami>;
}
