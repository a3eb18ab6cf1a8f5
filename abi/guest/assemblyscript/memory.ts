// What the operations of operations.ts answer. A call acts when it is made, and is undone where the run fails.

import { error_write, result_len, result_read } from "./imports";
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

/** replyTo reads the reply to a call. */
export function replyTo(answer: i32): Reply {
  return new Reply(answer < 0 ? -answer : Fault.None, decode(result_len(), result_read));
}
