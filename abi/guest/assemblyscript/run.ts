// The run itself: what it is given, what it answers, what it logs.

import {
  input_len, input_read, context_len, context_read, output_write, context_write, log_write,
} from "./imports";
import { encode, decode, at } from "./utf8";

/** The marker: this plug-in speaks version 1. The entry file exports it; nobody calls it. */
export function toolrun_abi_1(): void {}

/** input is the input of the run, a JSON object. */
export function input(): string {
  return decode(input_len(), input_read);
}

/** context is the context of the run, a JSON object. */
export function context(): string {
  return decode(context_len(), context_read);
}

/**
 * output sets what the run answers, a JSON text; null and no output are the JSON null. The last one counts. It
 * answers 0, so that an entry can end with `return output(json)`, and throws where the host does not take it.
 */
export function output(json: string | null): i32 {
  const bytes = encode(json === null ? "null" : json);
  if (output_write(at(bytes), bytes.byteLength) < 0) throw new Error("the output is larger than the host allows");
  return 0;
}

/**
 * setContext sets the keys of the context that the run adds or changes: a JSON object with all of them, since the
 * last one counts. It throws where the host does not take it.
 */
export function setContext(object: string): void {
  const bytes = encode(object);
  if (context_write(at(bytes), bytes.byteLength) < 0) throw new Error("the context is larger than the host allows");
}

/** Level is the level of a log line. */
export enum Level { Debug, Info, Warn, Error }

/** log writes a log line. */
export function log(level: Level, line: string): void {
  const bytes = encode(line);
  log_write(level, at(bytes), bytes.byteLength);
}
