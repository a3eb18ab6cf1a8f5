// The types of the replies to the operations in operations.ts. A call takes effect
// immediately. If the run fails, its changes are rolled back.

import { error_write, result_len, result_read } from "./imports";
import { at, decode, encode } from "./utf8";

/** Fault contains the numbers of the faults. Newer hosts can return other numbers. */
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
  NoWorkflow = 26,
  WorkflowEnded = 27,
  NoAgent = 28,
}

/** Reply is the result of a memory call: a JSON reply, or a fault. */
export class Reply {
  constructor(
    /** The number of the fault, or Fault.None. */
    public fault: i32,
    /** The reply, or the fault as {"code", "message", ...}. */
    public json: string,
  ) {}

  /**
   * value returns the reply. If the call failed, value fails the run with the same fault, so the
   * caller of the tool gets the same fault code.
   */
  get value(): string {
    if (this.fault != Fault.None) {
      const bytes = encode(this.json);
      error_write(at(bytes), bytes.byteLength);
      unreachable();
    }
    return this.json;
  }
}

/** replyTo reads the reply to a memory call. */
export function replyTo(result: i32): Reply {
  return new Reply(result < 0 ? -result : Fault.None, decode(result_len(), result_read));
}
