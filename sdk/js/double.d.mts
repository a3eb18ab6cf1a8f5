// Types of the test double of memory: import { Memory } from '@toolrun/sdk/double'.

import type { Memory as ToolMemory, MemoryAccessError, Projection } from './index.js';

export { MemoryAccessError } from './index.js';

/** The error for a program toolrun that cannot be started or has ended. */
export class ToolrunError extends Error {}

/** A store with the keys of an app file. The schema is the content of its file. */
export interface StoreDeclaration {
  /** The default is "document". */
  kind?: 'document' | 'collection';
  access: 'session' | 'user' | 'application';
  retention?: string;
  strict?: boolean;
  schema?: object | boolean;
  name?: string;
  description?: string;
  /** "resource" is for documents, and "recall" for collections. */
  expose?: 'resource' | 'recall';
  /** The embedding model of a collection. */
  embedding?: string;
  /** Whether an erasure keeps the entries of a collection with the access "application". */
  erase?: 'author' | 'never';
  /** The language of the entries of a collection. */
  language?: string;
}

/**
 * Grants by store: "read", "write", "delete" or "readwrite", several of them separated by commas,
 * or a list of them.
 */
export type Grants = { [store: string]: string | string[] };

/** The limits of an app's stored data. The defaults are those of toolrun. */
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

/** The caller of memory operations. If user or session is null, the caller has none. */
export interface Caller {
  user?: string | null;
  session?: string | null;
  /** The id of the active agent, for its blocks. By default, no agent is active. */
  agent?: string | null;
  /** The id of the workflow, which owns the facts with the scope execution_tree. By default, none. */
  workflow?: string | null;
  /** The grants of the tool. By default, everything is granted. */
  grants?: Grants;
  /** A tool of the app file, whose grants apply. */
  tool?: string;
}

export interface OpenOptions extends Caller {
  /** The stores of the app, by name. */
  stores?: { [name: string]: StoreDeclaration };
  /** The path of an app file, instead of stores. */
  file?: string;
  /** The id of the app. The default is "test". */
  app?: string;
  /** Default "user_test". */
  user?: string | null;
  /** Default "session_test". */
  session?: string | null;
  /** The metadata of the session. */
  metadata?: { [name: string]: unknown };
  limits?: Limits;
  /** The idle lifetime of a session, such as "30m". The default is 24h. */
  sessionIdle?: string;
  /** The time of the stopped clock. By default, the system's clock is used. */
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

/** The Result of a run, as toolrun returns it. */
export interface Result<T = any> {
  run_id?: string;
  ok: boolean;
  output: T;
  /** The context keys that the tool has added or changed. */
  context?: { [name: string]: any };
  error?: Fault;
  warnings: string[];
  effects: Effects;
  /** The entries of collections that a test run would have stored. */
  remembered?: Remembered[];
  /** The changes that a test run would have stored. */
  changes?: { store: string; item?: string; before: any; after: any }[];
  /** The error that the tool threw, with its stack. Printing the Result does not show it. */
  readonly exception?: unknown;
}

export interface RunOptions {
  context?: { [name: string]: unknown };
  env?: { [name: string]: string };
  inputSchema?: object;
  outputSchema?: object;
  /**
   * The answers of models, by the name of the model, in the order of the requests. A tool without a
   * declaration is granted these models. The member recall can contain results in place of searches.
   */
  mocks?: Mocks;
  /**
   * Makes the run a test run: it stores nothing, and recall finds only what mocks contain. The Result
   * lists the entries that would have been remembered.
   */
  test?: boolean;
}

/** An answer is a text, or an object with text, object, tool_calls or error. */
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
 * The memory of toolrun for tests, in a separate process. A tool calls the same get_content,
 * set_content and delete_content. Each call outside of run is a separate run.
 */
export interface Memory extends ToolMemory {}
export class Memory {
  private constructor();
  /**
   * Opens a memory. An invalid declaration rejects with a MemoryAccessError of the code
   * "source_invalid".
   */
  static open(options: OpenOptions): Promise<Memory>;
  /** The reads and writes of the last successful run. */
  effects: Effects;
  /**
   * Stores a content unchanged. The call requires no grant and is not part of a run. The schema
   * applies.
   */
  put(store: string, content: unknown): Promise<void>;
  /** Returns the stored content or null. The call requires no grant and is not part of a run. */
  content(store: string): Promise<any>;
  /** Returns the stored content with its revision and times, or null, as content does. */
  record(store: string): Promise<{ content: any; revision: number; created: string; updated_at: string; expires_at: string | null } | null>;
  /** Stores records of any user and session unchanged. */
  seed(records: SeededRecord[]): Promise<void>;
  /** Returns the live records that match the filter. */
  dump(filter?: { store?: string; user?: string; session?: string }): Promise<DumpedRecord[]>;
  /** Returns the same memory for another caller. */
  caller(changes: Caller): Promise<Memory>;
  /** Makes all calls of tools on a store fail with the given code, until it is called with null. */
  refuse(store: string, code: string | null, message?: string, details?: { hint?: string }): Promise<void>;
  /** Advances the clock by a number of milliseconds, or a duration such as "90m". */
  advance(time: number | string): Promise<void>;
  /** Sets the clock and stops it. */
  setClock(now: Date | string): Promise<void>;
  /** Seeds the random source of ids. */
  setRandom(seed: number): Promise<void>;
  /**
   * Merges a patch into sessionMeta.metadata. Without a session, the patch applies to the following
   * runs.
   */
  setMetadata(patch: { [name: string]: unknown }): Promise<void>;
  /** Sets the platform's own ids of the session and its user. */
  setReferences(references: { session?: string; user?: string }): Promise<void>;
  /** Ends the session and removes its data. */
  endSession(): Promise<void>;
  /** Ends the caller's workflow and removes its facts. */
  endWorkflow(): Promise<void>;
  /** Removes all records and sessions. */
  reset(): Promise<void>;
  /** Closes the memory. The memory also closes at the end of the tests. */
  close(): Promise<void>;
  /**
   * Runs the function of a tool as one run. All its writes are stored if the function returns, and
   * none if it throws. Meanwhile memory, env and MemoryAccessError are global variables, as in a
   * sandbox. Only one run at a time is possible.
   */
  run<I, T>(tool: (input: I, context: any) => T, input?: I, options?: RunOptions): Promise<Result<Awaited<T>>>;
}

export type { Projection };
