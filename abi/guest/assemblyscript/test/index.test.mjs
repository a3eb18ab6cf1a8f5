// Tests of the readers and writers, of thrown errors and of faults, in Node.js.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Host } from "../host.mjs";

const root = join(import.meta.dirname, "..");
const dir = mkdtempSync(join(tmpdir(), "behaviours"));
after(() => rmSync(dir, { recursive: true }));

const asc = join(root, "node_modules/assemblyscript/bin/asc.js");
const wasm = join(dir, "behaviours.wasm");
execFileSync(process.execPath, [asc, "test/behaviours.ts", "-o", wasm], { cwd: root });
const behaviours = readFileSync(wasm);

const run = (entry, input, context = {}) => new Host(behaviours).run(input, context, entry);

test("a plug-in imports only from toolrun and memory", () => {
  const modules = new Set(WebAssembly.Module.imports(new WebAssembly.Module(behaviours)).map((i) => i.module));
  assert.deepEqual([...modules].sort(), ["memory", "toolrun"]);
});

const values = [
  "null", "true", "false", "0", "-1", "4.9", "1e3", "5.0", "9007199254740991", '""', '"a"', '"ä😀\\u00e4\\ud83d\\ude00"',
  '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000"', '"\u2028"', "[]", "{}", ' [ 1 , [2,3] , "],}" , {"a":[]} ] ',
  '{"a":{"b":"}"},"":1,"\\u0061":2 , "c" : "\\"" }', '"\\ud800"', '"\\ud800\\ud800\\udc00"',
];
for (const json of values) {
  test(`reads ${json}`, () => {
    const value = JSON.parse(json);
    const { output } = run("reads", { json });
    assert.equal(output.text, typeof value === "string" ? value : null);
    assert.equal(output.number, typeof value === "number" ? value : null);
    assert.equal(output.null, value === null);
    assert.equal(output.true, value === true);
    const names = Array.isArray(value) ? value.map(() => "") : typeof value === "object" && value !== null ? ["a", "", "a", "c"] : [];
    if (json.trim() !== "{}") assert.deepEqual(output.steps.map((s) => s.split("=")[0]), names);
    if (Array.isArray(value)) assert.deepEqual(output.steps.map((s) => JSON.parse(s.slice(1))), value);
    for (const step of output.steps) JSON.parse(step.slice(step.indexOf("=") + 1));
  });
}

test("readers accept invalid JSON without a failure", () => {
  const valid = '{"a":[1,"\\u00e4\\"",{"b":null}],"c":-1.5e3}';
  for (let i = 0; i <= valid.length; i++) {
    for (const json of [valid.slice(0, i), valid.slice(i), valid.slice(0, i) + '"' + valid.slice(i), valid.slice(0, i) + "]" + valid.slice(i)]) {
      assert.ok(run("reads", { json }).ok, json);
      assert.ok(run("finds", { object: json, name: "a" }).ok, json);
    }
  }
});

test("the last of several members with one name is used", () => {
  const find = (object, name) => run("finds", { object, name }).output;
  assert.deepEqual(find('{"a":1,"\\u0061": {"a":2} }', "a"), '{"a":2}');
  assert.equal(find('{"b":{"a":1}}', "a"), null);
  assert.equal(find('["a",1]', "a"), null);
  assert.equal(find('{"":3}', ""), "3");
});

test("an error contains its position", () => {
  const { ok, error } = run("throws", {});
  assert.ok(!ok);
  const source = readFileSync(join(root, "test/behaviours.ts"), "utf8").split("\n");
  const line = source.findIndex((text) => text.includes("throw new")) + 1;
  assert.deepEqual(error, { message: 'no "such" colour', file: "test/behaviours.ts", line, column: 3 });
});

test("an error of the runtime has a message", () => {
  assert.equal(run("reaches", { index: 2 }).error.message, "Index out of range");
});

test("a fault can be handled or passed on unchanged", () => {
  const host = new Host(behaviours);
  host.stores.prefs = { a: 1 };
  assert.deepEqual(host.run({}, {}, "handles").output, { a: 1 });
  host.refuse(6, "no_user");
  assert.equal(host.run({}, {}, "handles").output, "anonymous");
  host.refuse(2, "access_denied", "no");
  assert.deepEqual(host.run({}, {}, "handles").error, { code: "access_denied", message: "no", op: "get_content", store: "prefs", id: "1" });
});

test("an output is JSON", () => {
  assert.deepEqual(run("writes", { output: "[1]" }).output, [1]);
  assert.equal(run("writes", { output: "[1" }).error.code, "output_invalid");
});

test("the context can be read and changed", () => {
  assert.deepEqual(run("adds", {}, { userId: "ann😀" }), { ok: true, output: null, context: { seen: { userId: "ann😀" } }, logs: [] });
});
