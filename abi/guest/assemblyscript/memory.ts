// The memory of the tool. A call acts when it is made, and is undone where the run fails.

import { error_write, memory_get, memory_set, memory_delete, result_len, result_read } from "./imports";
import { at, decode, encode } from "./utf8";

/** Fault has the numbers of the faults. A host of a later version may know more. */
export enum Fault {
  None = 0,
  NotFound = 1,
  AccessDenied = 2,
  ReadOnly = 3,
  SchemaViolation = 4,
  Conflict = 5,
  NoUser = 6,
  NoSession = 7,
  SessionEnded = 8,
  InvalidArgument = 9,
  TooLarge = 10,
  QuotaExceeded = 11,
  Unavailable = 12,
  ToolError = 13,
  InputInvalid = 14,
  OutputInvalid = 15,
  Timeout = 16,
  MemoryLimit = 17,
  StackLimit = 18,
  OutputLimit = 19,
  LogLimit = 20,
  CallLimit = 21,
  SourceInvalid = 22,
  ABIMismatch = 23,
  Cancelled = 24,
  Internal = 25,
}

/** Reply is what a call of memory answers: its JSON, or a fault. */
export class Reply {
  constructor(
    /** Which fault, Fault.None for none. */
    public fault: i32,
    /** The reply; of a fault {"code", "message", ...}. */
    public json: string,
  ) {}

  /** value is the reply. A fault ends the run as it came, so that who called the tool sees its code. */
  get value(): string {
    if (this.fault != Fault.None) {
      const bytes = encode(this.json);
      error_write(at(bytes), bytes.byteLength);
      unreachable();
    }
    return this.json;
  }
}

function replyTo(answer: i32): Reply {
  return new Reply(answer < 0 ? -answer : Fault.None, decode(result_len(), result_read));
}

/** get_content reads a store: its content, or null where it has none. Projection and options are JSON texts. */
export function get_content(store: string, projection: string | null = null, options: string | null = null): Reply {
  const s = encode(store), p = encode(projection), o = encode(options);
  return replyTo(memory_get(at(s), s.byteLength, at(p), p.byteLength, at(o), o.byteLength));
}

/** set_content merges a value, a JSON text, into a store; in a merge, null removes. */
export function set_content(store: string, value: string | null, options: string | null = null): Reply {
  const s = encode(store), v = encode(value), o = encode(options);
  return replyTo(memory_set(at(s), s.byteLength, at(v), v.byteLength, at(o), o.byteLength));
}

/** delete_content deletes the content of a store. */
export function delete_content(store: string, options: string | null = null): Reply {
  const s = encode(store), o = encode(options);
  return replyTo(memory_delete(at(s), s.byteLength, at(o), o.byteLength));
}
