// Measures other ways to run untrusted JavaScript, with the same tool as in the measurements of
// toolrun. The tool adds two numbers, and counts its runs in a record that it gets from the host
// and sets there. Each run has a fresh context, like a run of toolrun. For each peer, the program
// prints a line of JSON:
//
// {"name", "p50_us", "p99_us", "runs_per_s"} or {"name", "missing": why it was not measured}
//
// Usage: node peers.mjs [milliseconds for each peer, 1000]

import { spawn } from "node:child_process";
import { once } from "node:events";

const span = Number(process.argv[2] ?? 1000);
const memoryMiB = 64; // memory and time limits of a guest, equal to the limits of toolrun
const timeout = 5000;

// The body of the tool. getContent returns JSON, and setContent accepts and returns JSON.
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

// The same tool in a separate process. It calls the host by messages.
const processTool = `
const call = (op, text) => new Promise((reply) => { process.once("message", reply); process.send({op, text}); });
(async (input) => {${tool.replace("getContent()", 'await call("get")').replace(/setContent\((.*)\);/, 'await call("set", $1);')}
})({"a": 1, "b": 2}).then((text) => process.send({op: "answer", text}, () => process.disconnect()));`;

// measure runs a peer for a while, and checks that it returns what the tool should return.
async function measure(run) {
  record = null;
  const took = [];
  let began = 0;
  for (let n = 1; began === 0 || performance.now() - began < span; n++) {
    const start = performance.now();
    const answer = await run();
    const end = performance.now();
    if (answer !== JSON.stringify({ sum: 3, n }) || record.n !== n) throw new Error(`run ${n} answered ${answer}`);
    if (began === 0) began = end; // the first run is not measured: it sets up resources that later runs share
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
    console.log(JSON.stringify({ name, missing: `the package is not installed or cannot be loaded (${error.code ?? error.name})` }));
    continue;
  }
  console.log(JSON.stringify({ name, ...await measure(run) }));
}
