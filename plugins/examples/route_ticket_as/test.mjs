// Tests the plug-in with the test double of the host: node --test test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Host } from "@toolrun/assemblyscript/host";

const plugin = readFileSync(new URL("tool.wasm", import.meta.url));
const after = (output) => ({ steps: { classify: { output } } });

test("the category chooses the queue", () => {
  for (const [category, queue] of [["billing", "finance"], ["technical", "engineering"], ["constructor", "support"], [7, "support"]]) {
    const { output, context } = new Host(plugin).run({}, after({ category }));
    assert.deepEqual(output, { queue, priority: "normal", repeated: false });
    assert.deepEqual(context, { queue, priority: "normal" });
  }
});

test("an urgent ticket has high priority", () => {
  const { output } = new Host(plugin).run({}, after({ category: "billing", urgent: true }));
  assert.deepEqual(output, { queue: "finance", priority: "high", repeated: false });
});

test("the third ticket has high priority", () => {
  const host = new Host(plugin);
  host.stores.supportHistory = { tickets: { billing: 2, other: 7 } };
  const { output } = host.run({}, after({ category: "billing" }));
  assert.deepEqual(output, { queue: "finance", priority: "high", repeated: true });
  assert.deepEqual(host.stores.supportHistory, { tickets: { billing: 3, other: 7 } });
});

test("a run without the previous node fails and counts nothing", () => {
  const host = new Host(plugin);
  const { ok, error } = host.run({}, { steps: {} });
  assert.ok(!ok);
  assert.equal(error.message, 'route_ticket runs after a node named "classify"');
  assert.deepEqual(host.stores, {});
});
