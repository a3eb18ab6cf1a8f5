// Types of the memory of tests: import { Memory } from '@toolrun/sdk/double'.

import type { Memory as ToolMemory, MemoryAccessError, Projection } from './index.js';

export { MemoryAccessError } from './index.js';

/** The program toolrun cannot be started, or it has ended. */
export class ToolrunError extends Error {}

/** A store, with the keys of an app file. The schema is the JSON of its file. */
export interface StoreDeclaration {
  access: 'session' | 'user' | 'application';
  retention?: string;
  strict?: boolean;
  schema?: object | boolean;
  name?: string;
  description?: string;
  expose?: 'resource';
}

/** "read", "write", "delete" or "readwrite", several with commas, or a list of them, by store. */
export type Grants = { [store: string]: string | string[] };

/** What an app may keep. Default: toolrun's. */
export interface Limits {
  record_bytes?: number;
  depth?: number;
  keys?: number;
  values?: number;
  app_bytes?: number;
  app_records?: number;
  user_bytes?: number;
  user_records?: number;
}

/** For whom calls act. A user or session of null is one that is not known. */
export interface Caller {
  user?: string | null;
  session?: string | null;
  /** What a tool may do. Default: everything. */
  grants?: Grants;
  /** A tool of the app file, whose grants hold. */
  tool?: string;
}

export interface OpenOptions extends Caller {
  /** The stores of the app, by name. */
  stores?: { [name: string]: StoreDeclaration };
  /** The path of an app file, in place of stores. */
  file?: string;
  /** The id of the app. Default "test". */
  app?: string;
  /** Default "user_test". */
  user?: string | null;
  /** Default "session_test". */
  session?: string | null;
  /** The metadata of the session. */
  metadata?: { [name: string]: unknown };
  limits?: Limits;
  /** How long a session lives without being used, such as "30m". Default 24h. */
  sessionIdle?: string;
  /** Where the clock stands. Default: it is the system's. */
  now?: Date | string;
}

export interface Fault {
  code: string;
  message: string;
  op?: string;
  store?: string;
  hint?: string;
  violations?: { pointer: string; keyword: string; limit?: unknown; existing?: boolean }[];
}

export interface Effects {
  reads: { store: string; revision: number }[];
  writes: { store: string; revision: number; op: string; violations?: Fault['violations'] }[];
}

/** The Result of a run, as toolrun answers it. */
export interface Result<T = any> {
  run_id?: string;
  ok: boolean;
  output: T;
  /** The keys that the tool added to its context, or changed there. */
  context?: { [name: string]: any };
  error?: Fault;
  warnings: string[];
  effects: Effects;
  /** What the tool threw, with its stack. Printing the Result does not show it. */
  readonly exception?: unknown;
}

export interface RunOptions {
  context?: { [name: string]: unknown };
  env?: { [name: string]: string };
  inputSchema?: object;
  outputSchema?: object;
}

export interface SeededRecord {
  store: string;
  user?: string;
  session?: string;
  content: any;
}

export interface DumpedRecord extends SeededRecord {
  revision: number;
  created: string;
  updated_at: string;
  expires_at?: string | null;
}

/**
 * Memory for tests: toolrun's own, in a process of its own. A tool calls the same get_content, set_content and
 * delete_content. Each call outside of run is a run of its own.
 */
export interface Memory extends ToolMemory {}
export class Memory {
  private constructor();
  /** Opens a memory. A mistake in the declaration rejects with a MemoryAccessError of the code "source_invalid". */
  static open(options: OpenOptions): Promise<Memory>;
  /** What the last run that succeeded read and wrote. */
  effects: Effects;
  /** Stores a content as it is, without a grant and outside of a run under way; the schema holds. */
  put(store: string, content: unknown): Promise<void>;
  /** Answers the content that is stored, without a grant and outside of a run under way, or null. */
  content(store: string): Promise<any>;
  /** Answers the content with its revision and times, as content does, or null. */
  record(store: string): Promise<{ content: any; revision: number; created: string; updated_at: string; expires_at: string | null } | null>;
  /** Stores records of any user and session, as they are. */
  seed(records: SeededRecord[]): Promise<void>;
  /** Answers the living records, of one store, user or session if the filter names it. */
  dump(filter?: { store?: string; user?: string; session?: string }): Promise<DumpedRecord[]>;
  /** Answers the same memory for another caller. */
  caller(changes: Caller): Promise<Memory>;
  /** Has every call of a tool on a store fail with the error of a code, until code is null. */
  refuse(store: string, code: string | null, message?: string, details?: { hint?: string }): Promise<void>;
  /** Lets time go by: a number of milliseconds, or a duration such as "90m". */
  advance(time: number | string): Promise<void>;
  /** Sets the clock, which stands from then on. */
  setClock(now: Date | string): Promise<void>;
  /** Seeds what ids are made from. */
  setRandom(seed: number): Promise<void>;
  /** Merges into sessionMeta.metadata. Without a session, the runs that follow are given it. */
  setMetadata(patch: { [name: string]: unknown }): Promise<void>;
  /** Sets the platform's own names for the session and its user. */
  setReferences(references: { session?: string; user?: string }): Promise<void>;
  /** Ends the session, with what lived in it. */
  endSession(): Promise<void>;
  /** Removes all records and sessions. */
  reset(): Promise<void>;
  /** Closes the memory. The end of the tests closes it too. */
  close(): Promise<void>;
  /**
   * Runs the function of a tool as one run: it is stored whole if the function returns, and not at all if it throws. While it
   * runs, memory, env and MemoryAccessError are global variables, as in a sandbox. One run at a time.
   */
  run<I, T>(tool: (input: I, context: any) => T, input?: I, options?: RunOptions): Promise<Result<Awaited<T>>>;
}

export type { Projection };
