// This plug-in is an AssemblyScript version of the tool greeting.

import { get_content, member, output, quote, text } from "@toolrun/assemblyscript";
export { toolrun_abi_1 } from "@toolrun/assemblyscript";

export function toolrun_run(): i32 {
  // The platform stores data about the user in the session's metadata, which tools can only read.
  // The projection selects two fields of the metadata.
  const meta = get_content("sessionMeta", '{"metadata.userName":1,"metadata.customerTier":1}').value;
  const metadata = member(meta, "metadata");
  const userName = text(member(metadata, "userName"));
  const tier = text(member(metadata, "customerTier"));

  const thanks = tier !== null && tier == "gold" ? " Thank you for being a gold customer." : "";
  const greeting = `Hello ${userName === null ? "there" : userName}!${thanks}`;
  return output(`{"greeting":${quote(greeting)}}`);
}
