// Tests the plug-in with the test double of the host: node --test test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Host } from "@toolrun/assemblyscript/host";

const plugin = readFileSync(new URL("tool.wasm", import.meta.url));

for (const [metadata, greeting] of [
  [undefined, "Hello there!"],
  [{}, "Hello there!"],
  [{ userName: 'Ann "Ä" 😀' }, 'Hello Ann "Ä" 😀!'],
  [{ userName: "Ann", customerTier: "gold" }, "Hello Ann! Thank you for being a gold customer."],
  [{ customerTier: "silver" }, "Hello there!"],
]) {
  test(`greets ${JSON.stringify(metadata)}`, () => {
    const host = new Host(plugin);
    if (metadata !== undefined) host.stores.sessionMeta = { metadata };
    assert.deepEqual(host.run().output, { greeting });
  });
}

test("fails without memory", () => {
  const host = new Host(plugin);
  host.refuse(12, "unavailable");
  assert.equal(host.run().error.code, "unavailable");
});
