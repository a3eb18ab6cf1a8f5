// What AssemblyScript calls for what is thrown, and for what goes wrong in its runtime. Its own abort is an import
// of env, which no host of toolrun has: `--use abort=...` puts this one in its place.

import { error_write } from "./imports";
import { at, encode } from "./utf8";
import { quote } from "./json";

/** abort fails the run with a message and its place in the source; null and 0 are left out. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  let error = `{"message":${quote(message === null ? "aborted" : message)}`;
  if (file !== null) error += `,"file":${quote(file)},"line":${line},"column":${column}`;
  const bytes = encode(error + "}");
  error_write(at(bytes), bytes.byteLength);
  unreachable();
}
