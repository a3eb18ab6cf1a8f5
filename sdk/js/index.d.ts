/// <reference path="./globals.d.ts" />

// Types for toolrun tools. `memory`, `console`, `env`, MemoryAccessError and those of globals.d.ts are globals: nothing is
// imported. `"types": ["@toolrun/sdk"]` and `"lib": ["es2023"]` in tsconfig.json make them known.

/** A value that crosses between a tool and its host. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

/** Which parts of a record to read, as in MongoDB: `{"a.b": 1}` includes, `{a: 0}` excludes, `{}` is everything. A point that belongs to a name is
 * written `\\.`: `{"a\\.b": 1}`. Operators such as `$slice` are refused. Members come back sorted by name. */
export type Projection = { [path: string]: 0 | 1 | boolean | Projection };

export interface GetOptions {
  /** Answer the record around the content, too. */
  record?: boolean;
}

export interface SetOptions {
  /** Store the value as it is instead of merging it into the record. */
  replace?: boolean;
  /** Write only if the record has this revision; 0 means that there must be none. Else the code is "conflict". */
  if_revision?: number;
  /** Let the record live for less than the store's retention, as in "30m". */
  ttl?: string;
}

export interface StoredRecord<T> {
  content: T;
  revision: number;
  created: string;
  updated_at: string;
  expires_at: string | null;
}

/** A file that was uploaded to the session: an element of `artifacts` in the store `sessionMeta`. */
export interface Artifact {
  fileId: string;
  /** The name of the format, such as "pdf". */
  type: string;
  filename: string;
  mimetype: string;
  /** In bytes. */
  size: number;
  sha256: string;
  /** Whether tools and prompts see the text. */
  isActive: boolean;
  uploadedAt: string;
  expiresAt: string;
  hasText: boolean;
  /** Some of the text is missing: it exceeds a limit, or could not be read to its end. */
  textTruncated?: boolean;
  /** Says why hasText is false. */
  textReason?: "unsupported_format" | "disabled" | "no_text" | "encrypted" | "damaged" | "too_complex" | "unknown_encoding";
  /** null if the service gives no links. Everyone who has it can download the file. */
  downloadUrl: string | null;
  /** The text of an active file that has text. */
  text?: string;
}

/** What a write stored. A blind write, which does not depend on what was stored before, has null in all three. */
export interface SetReply {
  success: true;
  revision: number | null;
  updated_at: string | null;
  expires_at: string | null;
}

export interface DeleteOptions {
  /** Delete only if the record has this revision. Else the code is "conflict". */
  if_revision?: number;
}

export interface DeleteReply {
  success: true;
  /** Whether there was a record. */
  deleted: boolean;
}

/** The first argument of every call may instead be one object of named arguments. */
export interface StoreName {
  store?: string;
  store_name?: string;
  memory_store_name?: string;
}

/**
 * The tool's memory. A call acts when it is made; awaiting its promise gives the answer. A refused call
 * rejects with a MemoryAccessError, and a rejection that nothing handles fails the run.
 */
export interface Memory {
  /** Answers what the host knows about the session, with the grant sessionMeta: read. */
  get_content(store: 'sessionMeta'): Promise<SessionMeta>;
  /** Answers the content, or null where there is no record. */
  get_content<T = { [name: string]: any }>(store: string, projection: Projection | null | undefined, options: GetOptions & { record: true }): Promise<StoredRecord<T> | null>;
  get_content<T = { [name: string]: any }>(store: string, projection?: Projection | null, options?: GetOptions): Promise<T | null>;
  get_content<T = { [name: string]: any }>(args: StoreName & { projection?: Projection; projections?: Projection; options?: GetOptions }): Promise<T | null>;

  /** Creates the record or merges the value into it (RFC 7396): fields that it does not name are kept, null removes. */
  set_content(store: string, value: unknown, options?: SetOptions): Promise<SetReply>;
  set_content(args: StoreName & { value?: unknown; content?: unknown; data_object?: unknown; options?: SetOptions }): Promise<SetReply>;

  /** Deletes the record. */
  delete_content(store: string, options?: DeleteOptions): Promise<DeleteReply>;
  delete_content(args: StoreName & { options?: DeleteOptions }): Promise<DeleteReply>;
}

/** The content of the built-in store sessionMeta, which tools only read. */
export interface SessionMeta {
  /** What the platform says of the session and its user. */
  metadata: { [name: string]: any };
  sessionInfo: {
    sessionId: string | null;
    appId: string;
    /** The platform's own names for the session and the user. */
    sessionReference: string | null;
    userReference: string | null;
    userId: string | null;
    runId: string;
    /** When the session began. */
    timestamp: string | null;
  };
  /** The files of the session. */
  artifacts: Artifact[];
}

/** One place where a content does not fit its schema. */
export interface Violation {
  /** JSON Pointer of the value, "" for the root. */
  pointer: string;
  /** The keyword of the schema that refused it. */
  keyword: string;
  limit?: Json;
  /** The stored content was wrong there before. */
  existing?: boolean;
}

/** What a refused memory call throws. */
export class MemoryAccessError extends Error {
  constructor(message: string, details?: { code?: string; op?: string; store?: string; violations?: Violation[]; hint?: string });
  name: 'MemoryAccessError';
  /** What happened: "not_found", "access_denied", "schema_violation", "conflict", ... */
  code: string;
  /** The call that was refused. */
  op?: string;
  store?: string;
  violations: Violation[];
  /** What to do about it, where there is something to do. */
  hint?: string;
}

/** What a tool knows about its run. Keys that it adds come back to the caller. */
export interface Context {
  sessionId?: string;
  userId?: string;
  appId?: string;
  runId?: string;
  env?: { [name: string]: string };
  /** What the caller asks, of a run that a message began. */
  message?: string;
  /** What the nodes of a workflow answered before, by their names. */
  steps?: { [node: string]: { output?: any; [key: string]: any } };
  [key: string]: any;
}

export interface Operation {
  name: string;
  params: { name: string; aliases?: string[] }[];
}

/** Makes a memory over a host of your own. */
export function createMemory(operations: Operation[], host: {
  call(name: string, args: unknown[]): unknown;
  refuse(name: string, message: string): never;
}): Memory;

/** Makes a console that hands its lines to a host of your own. */
export function createConsole(host: {
  log(level: 'debug' | 'info' | 'warn' | 'error', text: string): void;
  stackOf?(error: Error): string;
  now(): number;
}): Console;

type MemoryAccessErrorClass = typeof MemoryAccessError;

/** The part of Node's Buffer that tools have. */
export interface ToolBuffer extends Uint8Array {
  readonly buffer: ArrayBuffer;
  toString(encoding?: string, start?: number, end?: number): string;
  toJSON(): { type: 'Buffer'; data: number[] };
  equals(other: Uint8Array): boolean;
  compare(target: Uint8Array, targetStart?: number, targetEnd?: number, start?: number, end?: number): -1 | 0 | 1;
  slice(start?: number, end?: number): ToolBuffer;
  subarray(start?: number, end?: number): ToolBuffer;
  indexOf(value: string | number | Uint8Array, offset?: number, encoding?: string): number;
  lastIndexOf(value: string | number | Uint8Array, offset?: number, encoding?: string): number;
  includes(value: string | number | Uint8Array, offset?: number, encoding?: string): boolean;
  copy(target: Uint8Array, targetStart?: number, start?: number, end?: number): number;
  write(text: string, offset?: number, length?: number, encoding?: string): number;
  fill(value: string | number | Uint8Array, offset?: number, end?: number, encoding?: string): this;
  /** readUInt8, readInt32BE, writeDoubleLE and the others of Node.js. */
  [method: `${'read' | 'write'}${string}`]: (...args: any[]) => any;
}

export interface ToolBufferConstructor {
  from(value: string, encoding?: string): ToolBuffer;
  from(value: ArrayBuffer, offset?: number, length?: number): ToolBuffer;
  from(value: ArrayLike<number> | Iterable<number> | Uint8Array | { type: 'Buffer'; data: number[] }): ToolBuffer;
  alloc(size: number, fill?: string | number | Uint8Array, encoding?: string): ToolBuffer;
  allocUnsafe(size: number): ToolBuffer;
  concat(list: readonly Uint8Array[], length?: number): ToolBuffer;
  isBuffer(value: unknown): value is ToolBuffer;
  isEncoding(encoding: string): boolean;
  byteLength(value: string | ArrayBuffer | ArrayBufferView, encoding?: string): number;
  compare(a: Uint8Array, b: Uint8Array): -1 | 0 | 1;
  readonly prototype: ToolBuffer;
}

/** The part of Node's process that tools have. Its env is a frozen copy of the tool's. */
export interface ToolProcess {
  readonly env: { readonly [name: string]: string | undefined };
  readonly argv: readonly string[];
  readonly version: '';
  readonly versions: { readonly [name: string]: string | undefined };
  nextTick(callback: (...args: any[]) => void, ...args: any[]): void;
  hrtime(before?: [number, number]): [number, number];
  uptime(): number;
}

declare global {
  const Buffer: ToolBufferConstructor;
  const process: ToolProcess;
  const memory: Memory;
  const env: { readonly [name: string]: string };
  const MemoryAccessError: MemoryAccessErrorClass;
}
