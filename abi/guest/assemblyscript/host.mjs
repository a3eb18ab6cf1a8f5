// A test double of the host, for testing a plug-in under Node:
//
//   import { Host } from "@toolrun/assemblyscript/host";
//
//   const host = new Host(await readFile("main.wasm"));
//   host.stores.pageHits = { pages: {} };
//   const result = host.run({ page: "/" });
//   assert.deepEqual(result.output, { hits: 1 });
//
// Like the real host, it stores contents and merges values into them (RFC 7396). Each run uses a
// new instance, and a failed run changes nothing. The host has no schemas, grants or retention, and
// ignores projections and all options except "replace". The host does not provide WASI: test a
// plug-in that needs clocks or random numbers on the real host.

const LEVELS = ["debug", "info", "warn", "error"];
const INVALID_ARGUMENT = 9;
const UNAVAILABLE = 12;

export class Host {
  /** stores maps the names of stores to their contents. */
  stores = {};
  #module;
  #refusal = null;

  /** Creates a host for one plug-in. The argument contains the bytes of the .wasm file. */
  constructor(wasm) {
    this.#module = new WebAssembly.Module(wasm);
  }

  /**
   * refuse makes the next memory call fail with the given fault, as in host.refuse(5, "conflict").
   */
  refuse(number, code, message = "requested by the test") {
    this.#refusal = { number, code, message };
  }

  /**
   * run runs the plug-in once. The result contains ok, output, context (the changed keys), error
   * and logs (lines such as "info: hello"). The error is the error that the plug-in has written, or
   * the trap that has ended the plug-in.
   */
  run(input = {}, context = {}, entry = "toolrun_run") {
    const before = structuredClone(this.stores);
    const run = new Run(this, input, context);
    const result = run.execute(this.#module, entry);
    if (!result.ok) this.stores = before;
    return result;
  }

  /**
   * call performs an operation and returns [number, reply]. The number is 0, or the number of a
   * fault.
   */
  call(op, store, value, options) {
    const refusal = this.#refusal;
    this.#refusal = null;
    if (refusal !== null) {
      const { number, code, message } = refusal;
      return [number, { code, message, op, store, id: "1" }];
    }
    const existed = Object.hasOwn(this.stores, store);
    switch (op) {
      case "get_content":
        return [0, existed ? this.stores[store] : null];
      case "set_content":
        this.stores[store] = options?.replace ? value : merge(this.stores[store], value);
        return [0, { success: true }];
      case "delete_content":
        delete this.stores[store];
        return [0, { success: true, deleted: existed }];
    }
    return [UNAVAILABLE, { code: "unavailable", message: "the test double does not implement this operation", op, store, id: "1" }];
  }
}

// Run contains the state of one run: the documents, and the data that the plug-in wrote.
class Run {
  output = null;
  context = null;
  error = null;
  logs = [];
  #host;
  #documents;
  #memory;

  constructor(host, input, context) {
    this.#host = host;
    this.#documents = { input: encode(input), context: encode(context), result: new Uint8Array() };
  }

  execute(module, entry) {
    const { exports } = new WebAssembly.Instance(module, this.#imports());
    this.#memory = exports.memory;
    exports._initialize?.();
    const failure = this.#enter(exports[entry]);
    if (failure !== null) return { ok: false, error: errorOf(this.error ?? failure), logs: this.logs };
    try {
      return { ok: true, output: JSON.parse(this.output ?? "null"), context: JSON.parse(this.context ?? "{}"), logs: this.logs };
    } catch (error) {
      return { ok: false, error: { code: "output_invalid", message: error.message }, logs: this.logs };
    }
  }

  // enter calls the entry point. enter returns an error message, or null for success.
  #enter(entry) {
    try {
      const code = entry();
      return code === 0 ? null : `the plug-in ended with code ${code} and wrote no error`;
    } catch (trap) {
      if (!(trap instanceof WebAssembly.RuntimeError || trap instanceof RangeError)) throw trap;
      return `trapped: ${trap.message}`;
    }
  }

  #imports() {
    const read = (name) => (ptr, offset, len) => this.#copy(this.#documents[name], ptr, offset, len);
    const size = (name) => () => this.#documents[name].length;
    const write = (name) => (ptr, len) => ((this[name] = this.#text(ptr, len)), 0);
    return {
      toolrun: {
        input_len: size("input"), input_read: read("input"),
        context_len: size("context"), context_read: read("context"),
        result_len: size("result"), result_read: read("result"),
        output_write: write("output"), context_write: write("context"), error_write: write("error"),
        log: (level, ptr, len) => this.#log(level, this.#text(ptr, len)),
      },
      memory: new Proxy({}, { get: (_, op) => (...args) => this.#call(op, args) }), // any operation
    };
  }

  #call(op, args) {
    const texts = [];
    for (let i = 0; i < args.length; i += 2) texts.push(this.#text(args[i], args[i + 1]));
    const [store, ...rest] = texts;
    const json = rest.map((text) => (text === "" ? undefined : JSON.parse(text)));
    const [number, reply] = this.#host.call(op, store, json[0], json.at(-1));
    this.#documents.result = encode(reply);
    return number > 0 ? -number : this.#documents.result.length;
  }

  #log(level, text) {
    if (LEVELS[level] === undefined) return -INVALID_ARGUMENT;
    this.logs.push(`${LEVELS[level]}: ${text}`);
    return 0;
  }

  #copy(document, ptr, offset, len) {
    const part = document.subarray(offset >>> 0, (offset >>> 0) + (len >>> 0));
    new Uint8Array(this.#memory.buffer).set(part, ptr >>> 0);
    return part.length;
  }

  #text(ptr, len) {
    const bytes = new Uint8Array(this.#memory.buffer, ptr >>> 0, len >>> 0);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  }
}

function encode(value) {
  return new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
}

function errorOf(text) {
  return text.startsWith("{") ? JSON.parse(text) : { message: text };
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function merge(target, patch) {
  if (!isObject(patch)) return patch;
  const merged = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name], value);
  }
  return merged;
}
