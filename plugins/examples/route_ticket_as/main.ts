// This plug-in is an AssemblyScript version of the tool route_ticket. The plug-in is a function
// node of a workflow. The plug-in reads the output of the node "classify" and adds data for later
// nodes to the context.

import {
  context, get_content, isNull, isTrue, member, number, output, quote, setContext, set_content, text,
} from "@toolrun/assemblyscript";
export { toolrun_abi_1 } from "@toolrun/assemblyscript";

export function toolrun_run(): i32 {
  const classify = member(member(context(), "steps"), "classify");
  const classified = member(classify, "output");
  if (isNull(classified)) throw new Error('route_ticket runs after a node named "classify"');

  const category = categoryOf(text(member(classified, "category")));
  const repeated = countTicket(category) >= 3;
  const priority = isTrue(member(classified, "urgent")) || repeated ? "high" : "normal";

  const added = `"queue":${quote(queueOf(category))},"priority":${quote(priority)}`;
  setContext(`{${added}}`);
  return output(`{${added},"repeated":${repeated}}`);
}

function categoryOf(name: string | null): string {
  return name !== null && (name == "billing" || name == "technical") ? name : "other";
}

function queueOf(category: string): string {
  if (category == "billing") return "finance";
  if (category == "technical") return "engineering";
  return "support";
}

// countTicket increments the number of the user's tickets.
function countTicket(category: string): i64 {
  const history = get_content("supportHistory", `{${quote("tickets." + category)}:1}`).value;
  const counted = number(member(member(history, "tickets"), category));
  const count = isNaN(counted) ? 1 : <i64>counted + 1;
  set_content("supportHistory", `{"tickets":{${quote(category)}:${count}}}`).value;
  return count;
}
