// The test double of memory. The process toolrun double stores its stores, records and sessions.
// double.d.mts documents the API.
import { resolve } from 'node:path';
import sdk from './index.js';
import { encode, Unfit } from './encode.mjs';
import { Process, ToolrunError } from './process.mjs';

const { createMemory, MemoryAccessError } = sdk;

export { MemoryAccessError, ToolrunError };

const shared = new Process();
let opened = 0; // the number of memories so far

const unused = new FinalizationRegistry((name) => shared.forget(name));

const MAX_TOOLS = 50; // per memory; the process limits their total number

/** An app that is open in the process. All callers of a memory share it. */
class App {
  #name = JSON.stringify(`m${++opened}`);
  #tools = new Map(); // names by declaration, most recently used last
  #made = 0;

  constructor() {
    unused.register(this, this.#name);
  }

  /** Sends a request for the app and returns the result. */
  async request(request, members = {}) {
    const texts = { do: JSON.stringify(request), memory: this.#name };
    for (const [name, value] of Object.entries(members)) {
      const text = value instanceof Text ? value.json : encodeOfTest(value, name);
      if (text !== undefined) texts[name] = text;
    }
    const reply = await shared.request(texts);
    if (!reply.ok) throw errorOf(reply.error);
    return reply.result;
  }

  /** Returns the name of a tool with the given declaration. */
  async tool(declaration) {
    if (declaration === undefined || typeof declaration === 'string') return declaration;
    const text = encodeOfTest(declaration, 'tool');
    let name = this.#tools.get(text);
    this.#tools.delete(text);
    if (name === undefined) {
      name = this.#free();
      this.#tools.set(text, name); // set before the reply, so no other request uses the name
      await this.request('tool', { tool: name, manifest: new Text(text) });
    }
    this.#tools.set(text, name);
    return name;
  }

  #free() {
    if (this.#tools.size < MAX_TOOLS) return `tool_${++this.#made}`;
    const [text, name] = this.#tools.entries().next().value;
    this.#tools.delete(text);
    return name;
  }
}

/** A JSON text that is sent unchanged. */
class Text {
  constructor(json) {
    this.json = json;
  }
}

function encodeOfTest(value, name) {
  try {
    return encode(value, name);
  } catch (error) {
    if (error instanceof Unfit) throw new TypeError(`the test passes a value that is not JSON: ${error.message}`);
    throw error;
  }
}

// Maps each error to the fault of the host that it was created from. No other error represents a
// fault.
const faults = new WeakMap();

function errorOf(fault) {
  const { message, id, ...details } = fault;
  const error = new MemoryAccessError(message, details);
  faults.set(error, fault);
  return error;
}

export class Memory {
  #app;
  #user;
  #session;
  #agent;
  #workflow;
  #tool; // a tool name, a manifest, or undefined for all grants
  #metadata;
  #operations;
  #calls; // the global variable memory of a tool
  #model; // the global variable model of a tool
  #run; // the current run
  /** The reads and writes of the last successful run. */
  effects = { reads: [], writes: [] };

  constructor(secret, known) {
    if (secret !== shared) throw new TypeError('use await Memory.open(...) to open a memory');
    this.#app = known.app;
    this.#user = known.user;
    this.#session = known.session;
    this.#agent = known.agent;
    this.#workflow = known.workflow;
    this.#tool = known.tool;
    this.#metadata = known.metadata;
    this.#operations = known.operations;
    const host = {
      call: (op, args) => this.#call(op, args),
      refuse: (op, message) => {
        throw errorOf({ code: 'invalid_argument', message: `${op} ${message}`, op });
      },
    };
    this.#calls = createMemory(known.operations, host);
    this.#model = createMemory(known.operations, host, 'model');
    Object.assign(this, this.#calls);
  }

  static async open(options = {}) {
    const { stores, file, app = 'test', user = 'user_test', session = 'session_test', agent = null, workflow = null, grants, tool, metadata, limits, sessionIdle, now } = options;
    if ((stores === undefined) === (file === undefined)) throw new TypeError('Memory.open requires either stores or the path of an app file');
    const shell = new App();
    const declared = file === undefined ? { app: { app, session_idle: sessionIdle, memory: stores } } : { file: resolve(file) };
    const { operations, stores: names } = await shell.request('open', { ...declared, limits });
    shell.everything = { sessionMeta: 'read', ...Object.fromEntries(names.map((name) => [name, 'readwrite'])) };
    const memory = new Memory(shared, { app: shell, user, session, agent, workflow, tool: toolOf(grants, tool), operations });
    if (now !== undefined) await memory.setClock(now);
    await shell.tool(memory.#tool); // reports a mistake in grants immediately
    if (metadata !== undefined) await memory.setMetadata(metadata);
    return memory;
  }

  async put(store, content) {
    await this.#operate('set_content', [store, content, { replace: true }]);
  }

  async content(store) {
    return this.#operate('get_content', [store]);
  }

  async record(store) {
    return this.#operate('get_content', [store, null, { record: true }]);
  }

  async seed(records) {
    await this.#app.request('seed', { records });
  }

  async dump(filter = {}) {
    return (await this.#app.request('dump', filter)).records;
  }

  async caller(changes) {
    const tool = 'grants' in changes || 'tool' in changes ? toolOf(changes.grants, changes.tool) : this.#tool;
    await this.#app.tool(tool);
    return new Memory(shared, {
      app: this.#app, user: this.#user, session: this.#session, agent: this.#agent, workflow: this.#workflow, metadata: this.#metadata, operations: this.#operations, ...changes, tool,
    });
  }

  async refuse(store, code, message = 'the test refuses the call', details = {}) {
    await this.#app.request('refuse', { store, error: code === null ? null : { code, message, ...details } });
  }

  async advance(time) {
    await this.#app.request('clock', { advance: typeof time === 'number' ? `${time}ms` : time });
  }

  async setClock(now) {
    await this.#app.request('clock', { now });
  }

  async setRandom(seed) {
    await this.#app.request('random', { seed });
  }

  async setMetadata(patch) {
    if (this.#session === null) this.#metadata = patch;
    else await this.#app.request('session', { ...this.#who(), metadata: patch });
  }

  async setReferences({ session, user }) {
    await this.#app.request('session', { ...this.#who(), session_reference: session, user_reference: user });
  }

  async endSession() {
    await this.#app.request('end_session', { session: this.#session ?? undefined });
  }

  async endWorkflow() {
    await this.#app.request('end_workflow', { workflow: this.#workflow ?? undefined });
  }

  async reset() {
    await this.#app.request('reset');
  }

  async close() {
    await this.#app.request('close');
  }

  async run(tool, input = {}, { context, env, inputSchema, outputSchema, mocks, test } = {}) {
    if (this.#run) throw new Error('a run is already in progress');
    const starting = { handle: undefined };
    this.#run = starting;
    try {
      const named = await this.#app.tool(this.#declared(inputSchema, outputSchema, mocks));
      const started = await this.#app.request('begin', { ...this.#caller(), tool: named, metadata: this.#metadata, input, context, env, mocks, test });
      starting.handle = started.run;
      return await this.#execute(tool, started);
    } catch (error) {
      if (starting.handle !== undefined || !faults.has(error)) throw error;
      return failed({ ok: false, output: null, logs: [], warnings: [], effects: { reads: [], writes: [] }, error: faults.get(error) }, error);
    } finally {
      this.#run = undefined;
    }
  }

  /** Executes the function of a tool in a run that has begun. */
  async #execute(tool, { run, input, context }) {
    const before = new Map(Object.entries(context).map(([key, value]) => [key, JSON.stringify(value)]));
    let output;
    try {
      output = await withGlobals({ memory: this.#calls, model: this.#model, env: context.env, MemoryAccessError }, () => tool(input, context));
    } catch (error) {
      return failed(await this.#app.request('rollback', { run, error: faultOf(error) }), error);
    }
    const changed = Object.keys(context).filter((key) => before.get(key) !== JSON.stringify(context[key]));
    const members = changed.map((key) => `${JSON.stringify(key)}:${JSON.stringify(context[key]) ?? 'null'}`);
    const answer = { output: new Text(JSON.stringify(output) ?? 'null'), context: new Text(`{${members.join(',')}}`) };
    const result = await this.#app.request('commit', { run, ...answer });
    if (!result.ok) return failed(result, errorOf(result.error));
    this.effects = result.effects;
    return result;
  }

  async #call(op, args) {
    const texts = args.map((arg, i) => this.#argument(op, arg, i));
    const call = { op, args: new Text(`[${texts.join(',')}]`) };
    if (this.#run) return (await this.#app.request('call', { ...call, run: this.#run.handle })).reply;
    const tool = await this.#app.tool(this.#tool);
    const { reply, effects } = await this.#app.request('call', { ...call, ...this.#caller(), tool, metadata: this.#metadata });
    this.effects = effects;
    return reply;
  }

  #argument(op, arg, i) {
    const { name, strict } = this.#operations.find((known) => known.name === op).params[i];
    try {
      return encode(arg, name, strict) ?? 'null';
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      throw errorOf({ code: error.deep ? 'too_large' : 'invalid_argument', message: `${op}: ${error.message}`, op });
    }
  }

  async #operate(op, args) {
    const texts = args.map((arg, i) => this.#argument(op, arg, i));
    return (await this.#app.request('call', { op, args: new Text(`[${texts.join(',')}]`), operator: true, ...this.#caller() })).reply;
  }

  /** Returns the declaration of the tool of a run, with grants on the models that have mocks. */
  #declared(inputSchema, outputSchema, mocks) {
    const schemas = inputSchema !== undefined || outputSchema !== undefined;
    if (typeof this.#tool === 'string') {
      if (schemas) throw new TypeError('the app file declares the schemas of the tool; omit the schemas');
      return this.#tool;
    }
    if (!schemas && mocks === undefined) return this.#tool;
    const models = mocks === undefined ? undefined : Object.keys(mocks).filter((name) => Array.isArray(mocks[name]));
    return { grants: this.#app.everything, ...this.#tool, inputSchema, outputSchema, models };
  }

  #who() {
    return { user: this.#user ?? undefined, session: this.#session ?? undefined };
  }

  #caller() {
    return { ...this.#who(), agent: this.#agent ?? undefined, workflow: this.#workflow ?? undefined };
  }
}

function toolOf(grants, tool) {
  if (grants !== undefined && tool !== undefined) throw new TypeError('pass either grants or a tool of the app file, not both');
  return grants === undefined ? tool : { grants };
}

/**
 * Returns the fault of an error. Only the error object that a call raised represents that call's
 * fault.
 */
function faultOf(error) {
  const fault = faults.get(error);
  if (fault) return fault;
  return { code: 'tool_error', message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}

/** Returns the Result of a failed run, with the exception attached. */
function failed(result, exception) {
  return Object.defineProperty(result, 'exception', { value: exception, enumerable: false });
}

/** Runs a function with temporary global variables. */
async function withGlobals(names, run) {
  const before = new Map(Object.keys(names).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
  Object.assign(globalThis, names);
  try {
    return await run();
  } finally {
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else delete globalThis[name];
    }
  }
}
