// Measures other ways to run JavaScript that is not trusted, with the tool that toolrun is measured with: it adds two
// numbers, and counts its runs in a record that it gets from the host and sets there. Each run is in a fresh context, as
// a run of toolrun is. Prints a line of JSON for each of them:
//
//   {"name", "p50_us", "p99_us", "runs_per_s"} or {"name", "missing": why it was not measured}
//
// Usage: node peers.mjs [milliseconds for each, 1000]

import { spawn } from "node:child_process";
import { once } from "node:events";

const span = Number(process.argv[2] ?? 1000);
const memoryMiB = 64; // of a guest, and its time: what toolrun allows
const timeout = 5000;

// The body of the tool, where getContent and setContent take and answer JSON.
const tool = `
const counter = JSON.parse(getContent());
const n = (counter?.n ?? 0) + 1;
setContent(JSON.stringify({n}));
return JSON.stringify({sum: input.a + input.b, n});`;
const script = `(function () { const input = {"a": 1, "b": 2};${tool} })()`;

// The host's record.
let record = null;
const getContent = () => JSON.stringify(record);
const setContent = (text) => { record = JSON.parse(text); };

const peers = {
  "isolated-vm, a new isolate": async () => {
    const { default: ivm } = await import("isolated-vm");
    return async () => {
      const isolate = new ivm.Isolate({ memoryLimit: memoryMiB });
      const context = await isolate.createContext();
      await context.global.set("getContent", new ivm.Callback(getContent));
      await context.global.set("setContent", new ivm.Callback(setContent));
      const answer = await context.eval(script, { timeout });
      isolate.dispose();
      return answer;
    };
  },

  "quickjs-emscripten, a new runtime": async () => {
    const { getQuickJS, shouldInterruptAfterDeadline } = await import("quickjs-emscripten");
    const quickjs = await getQuickJS();
    return async () => {
      const runtime = quickjs.newRuntime();
      runtime.setMemoryLimit(memoryMiB * 1024 * 1024);
      runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + timeout));
      const context = runtime.newContext();
      context.newFunction("getContent", () => context.newString(getContent()))
        .consume((f) => context.setProp(context.global, "getContent", f));
      context.newFunction("setContent", (text) => setContent(context.getString(text)))
        .consume((f) => context.setProp(context.global, "setContent", f));
      const answer = context.unwrapResult(context.evalCode(script)).consume((value) => context.getString(value));
      context.dispose();
      runtime.dispose();
      return answer;
    };
  },

  "node -e, a new process": async () => async () => {
    const child = spawn(process.execPath, [`--max-old-space-size=${memoryMiB}`, "-e", processTool], {
      stdio: ["ignore", "ignore", "ignore", "ipc"], env: {}, timeout,
    });
    let answer;
    child.on("message", ({ op, text }) => {
      if (op === "get") return child.send(getContent());
      if (op === "set") return setContent(text), child.send("null");
      answer = text;
    });
    await once(child, "close");
    return answer;
  },
};

// The same tool in a process, whose calls go to the host as messages.
const processTool = `
const call = (op, text) => new Promise((reply) => { process.once("message", reply); process.send({op, text}); });
(async (input) => {${tool.replace("getContent()", 'await call("get")').replace(/setContent\((.*)\);/, 'await call("set", $1);')}
})({"a": 1, "b": 2}).then((text) => process.send({op: "answer", text}, () => process.disconnect()));`;

// measure runs a peer for a while, and holds it to what the tool is to answer.
async function measure(run) {
  record = null;
  const took = [];
  let began = 0;
  for (let n = 1; began === 0 || performance.now() - began < span; n++) {
    const start = performance.now();
    const answer = await run();
    const end = performance.now();
    if (answer !== JSON.stringify({ sum: 3, n }) || record.n !== n) throw new Error(`run ${n} answered ${answer}`);
    if (began === 0) began = end; // the first run is not counted: it sets up what the later ones share
    else took.push((end - start) * 1000);
  }
  const elapsed = performance.now() - began;
  took.sort((a, b) => a - b);
  const at = (q) => took[Math.floor(q * (took.length - 1))];
  return { p50_us: at(0.5), p99_us: at(0.99), runs_per_s: took.length / elapsed * 1000 };
}

for (const [name, prepare] of Object.entries(peers)) {
  let run;
  try {
    run = await prepare();
  } catch (error) {
    console.log(JSON.stringify({ name, missing: `the package is not installed, or does not load here (${error.code ?? error.name})` }));
    continue;
  }
  console.log(JSON.stringify({ name, ...await measure(run) }));
}
