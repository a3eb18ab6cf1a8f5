// Functions for reading the input and the context of a run, setting its output, and logging.

import {
  input_len, input_read, context_len, context_read, output_write, context_write, log_write,
} from "./imports";
import { encode, decode, at } from "./utf8";

/** Marks the plug-in as built for version 1 of the ABI. The entry file must export this marker. */
export function toolrun_abi_1(): void {}

/** input returns the input of the run, a JSON object. */
export function input(): string {
  return decode(input_len(), input_read);
}

/** context returns the context of the run, a JSON object. */
export function context(): string {
  return decode(context_len(), context_read);
}

/**
 * output sets the output of the run, a JSON text. It replaces an earlier output. A null argument
 * means the JSON text null. It returns 0, so an entry point can end with `return output(json)`. It
 * throws if the host rejects the output.
 */
export function output(json: string | null): i32 {
  const bytes = encode(json === null ? "null" : json);
  if (output_write(at(bytes), bytes.byteLength) < 0) throw new Error("the output is larger than the host allows");
  return 0;
}

/**
 * setContext sets the keys of the context that the run adds or changes. The JSON object must
 * contain all of these keys, because it replaces the object of an earlier call. It throws if the
 * host rejects the object.
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
