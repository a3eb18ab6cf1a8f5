// The AssemblyScript binding for plug-ins. The binding implements version 1 of the toolrun ABI,
// which ../../ABI.md specifies.
//
//   import { input, member, output } from "@toolrun/assemblyscript";
//   export { toolrun_abi_1 } from "@toolrun/assemblyscript";
//
//   export function toolrun_run(): i32 {
//     return output(member(input(), "page"));
//   }
//
// Values are JSON texts, which preserve all digits of numbers. Throw an error to fail a run.

import "./abort"; // for --use abort=...

export { toolrun_abi_1, input, context, output, setContext, log, Level } from "./run";
export { Fault, Reply } from "./memory";
export * from "./operations";
export { Walk, member, text, number, isNull, isTrue, quote } from "./json";
