// The probe executes the steps of its input and returns their results. Package abitest
// (../../../abitest) runs the probe.

import {
  Level, Reply, Walk, context, delete_content, forget, get_content, input, isTrue, log, member, output, quote, recall,
  remember, set_content, setContext, text,
} from "../index";
export { toolrun_abi_1 } from "../index";

export function toolrun_run(): i32 {
  const script = input();
  const probe = new Probe();
  const steps = new Walk(member(script, "steps"));
  while (steps.next()) probe.step(steps.value);
  return output(`{"replies":[${probe.replies.join(",")}],"input":${script},"context":${context()}}`);
}

// Probe collects the results of the steps.
class Probe {
  replies: string[] = [];
  private changes: Map<string, string> = new Map();
  private lastFault: Reply | null = null;

  step(step: string): void {
    if (member(step, "call") !== null) return this.call(step);
    if (member(step, "log") !== null) return log(level(textOf(step, "log")), textOf(step, "text"));
    if (member(step, "print") !== null) return log(Level.Info, textOf(step, "print"));
    if (member(step, "context") !== null) return this.change(member(step, "context"));
    if (member(step, "fail") !== null) throw new Error(textOf(step, "fail"));
    const fault = this.lastFault;
    if (isTrue(member(step, "pass")) && fault !== null) fault.value;
    throw new Error("the probe does not know this step");
  }

  private call(step: string): void {
    const reply = perform(step);
    if (reply.fault == 0) {
      this.replies.push(`{"reply":${reply.json}}`);
      return;
    }
    this.lastFault = reply;
    this.replies.push(`{"fault":${withoutID(reply.json)}}`);
  }

  private change(keys: string | null): void {
    const walk = new Walk(keys);
    while (walk.next()) this.changes.set(walk.name, walk.value);
    setContext(object(this.changes));
  }
}

function perform(step: string): Reply {
  const call = textOf(step, "call");
  const store = textOf(step, "store");
  const options = member(step, "options");
  if (call == "get_content") return get_content(store, member(step, "projection"), options);
  if (call == "set_content") return set_content(store, member(step, "value"), options);
  if (call == "remember") return remember(store, member(step, "value"), options);
  if (call == "recall") return recall(store, member(step, "value"), options);
  if (call == "forget") return forget(store, options);
  return delete_content(store, options);
}

function level(name: string): Level {
  if (name == "debug") return Level.Debug;
  if (name == "warn") return Level.Warn;
  if (name == "error") return Level.Error;
  return Level.Info;
}

// withoutID returns a fault without its id.
function withoutID(fault: string): string {
  const members = new Map<string, string>();
  const walk = new Walk(fault);
  while (walk.next()) {
    if (walk.name != "id") members.set(walk.name, walk.value);
  }
  return object(members);
}

function object(members: Map<string, string>): string {
  const names = members.keys();
  const parts: string[] = [];
  for (let i = 0; i < names.length; i++) parts.push(quote(names[i]) + ":" + members.get(names[i]));
  return "{" + parts.join(",") + "}";
}

function textOf(step: string, name: string): string {
  const value = text(member(step, name));
  return value === null ? "" : value;
}
