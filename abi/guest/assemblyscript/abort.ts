// AssemblyScript calls this function for thrown errors and for errors in its runtime. Compile with
// `--use abort=...`: the default implementation imports a function from env, which toolrun does not
// provide.

import { error_write } from "./imports";
import { at, encode } from "./utf8";
import { quote } from "./json";

/**
 * abort fails the run with a message and a position in the source. It omits a message or position
 * that is null.
 */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  let error = `{"message":${quote(message === null ? "aborted" : message)}`;
  if (file !== null) error += `,"file":${quote(file)},"line":${line},"column":${column}`;
  const bytes = encode(error + "}");
  error_write(at(bytes), bytes.byteLength);
  unreachable();
}
