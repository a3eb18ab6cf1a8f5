// A plug-in that asks a model.

import { member, model_chat, output } from "@toolrun/assemblyscript";
export { toolrun_abi_1 } from "@toolrun/assemblyscript";

export function toolrun_run(): i32 {
  const answer = model_chat('"local"', '{"messages":[{"role":"user","content":"hello"}]}').value;
  return output(member(answer, "text"));
}
