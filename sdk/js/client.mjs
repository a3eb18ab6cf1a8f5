// A client for the HTTP API of toolrun serve. The client requires only fetch, and runs in Node.js
// 20 and later, and in browsers.
import { Memory } from './blocks.mjs';
import { Collections } from './collections.mjs';
import { events } from './events.mjs';
import { pages } from './pages.mjs';
import { errorOfProblem, foreign, isMedia, mistake, ToolrunError, Transport } from './transport.mjs';

export { ToolrunError };

const PATCH = 'application/merge-patch+json';
const EVENTS = 'text/event-stream';

/** A client of one service. client.d.mts describes the methods. */
export class Client {
  #transport;

  constructor(options) {
    this.#transport = new Transport(options);
    this.memory = new Memory(this.#transport);
    this.collections = new Collections(this.#transport);
  }

  // Runs

  run(run, options) {
    return this.#send('POST', ['runs'], { json: { value: run }, ...running(options) });
  }

  runCode(run, options) {
    return this.#send('POST', ['runs', 'code'], { json: { value: run }, ...running(options) });
  }

  streamRun(run, options) {
    return this.#stream(['runs', 'stream'], run, options);
  }

  streamRunCode(run, options) {
    return this.#stream(['runs', 'code', 'stream'], run, options);
  }

  runById(id, options) {
    return this.#send('GET', ['runs', id], options);
  }

  cancelRun(id, options) {
    return this.#send('POST', ['runs', id, 'cancel'], { repeatable: true, ...options });
  }

  async *#stream(path, run, { onRunId, ...options } = {}) {
    const request = { json: { value: run }, ...running(options) };
    request.headers.Accept = EVENTS;
    const response = await this.#transport.send('POST', path, request);
    if (!isMedia(response, EVENTS)) {
      throw foreign(response.status);
    }
    try {
      yield* follow(response, onRunId);
    } catch (error) {
      throw this.#transport.broken(error, response, 'POST', options);
    }
  }

  tools(options) {
    return this.#items(['tools'], options);
  }

  // Agents

  agents(options) {
    return this.#items(['agents'], options);
  }

  turn(agent, turn = {}, options) {
    return this.#send('POST', ['agents', agent, 'turns'], { json: { value: turn }, ...running(options) });
  }

  previewTurn(agent, turn = {}, options) {
    return this.#send('POST', ['agents', agent, 'preview'], { json: { value: turn }, ...options });
  }

  fireEvent(agent, event, options) {
    return this.#send('POST', ['agents', agent, 'events'], { json: { value: event }, ...running(options) });
  }

  checkConstraints(agent, check = {}, options) {
    return this.#send('POST', ['agents', agent, 'checks'], { json: { value: check }, ...options });
  }

  evaluateTriggers(agent, triggers = {}, options) {
    return this.#send('POST', ['agents', agent, 'triggers'], { json: { value: triggers }, ...running(options) });
  }

  // Sessions

  startSession(start = {}, options) {
    return this.#send('POST', ['sessions'], { json: { value: start }, ...running(options) });
  }

  session(caller, options) {
    return this.#send('GET', sessionPath(caller), { query: userOf(caller), ...options });
  }

  setMetadata(caller, patch, options) {
    return this.#send('PATCH', [...sessionPath(caller), 'metadata'], { query: userOf(caller), json: { value: patch, type: PATCH }, ...options });
  }

  endSession(caller, options) {
    return this.#send('DELETE', sessionPath(caller), { query: userOf(caller), repeatable: true, ...options });
  }

  sessions(query = {}, options) {
    return this.#send('GET', ['sessions'], { query, ...options });
  }

  allSessions(query = {}, options) {
    return pages((after) => this.sessions({ ...query, after }, options), query.after);
  }

  addMessages(caller, messages, options) {
    const value = { user_id: caller?.user_id, agent_id: caller?.agent_id, messages };
    return this.#send('POST', [...sessionPath(caller), 'messages'], { json: { value }, ...options });
  }

  // Approvals

  approvals(query = {}, options) {
    return this.#send('GET', ['approvals'], { query, ...options });
  }

  allApprovals(query = {}, options) {
    return pages((after) => this.approvals({ ...query, after }, options), query.after);
  }

  approval(token, options) {
    return this.#send('GET', ['approvals', token], options);
  }

  approve(token, options) {
    return this.#send('POST', ['approvals', token], { json: { value: { decision: 'approve' } }, ...options });
  }

  deny(token, reason, options) {
    return this.#send('POST', ['approvals', token], { json: { value: { decision: 'deny', reason } }, ...options });
  }

  // Sleep-time memory

  sleepStatus(options) {
    return this.#send('GET', ['sleep'], options);
  }

  pauseSleep(options) {
    return this.#send('POST', ['sleep', 'pause'], { repeatable: true, ...options });
  }

  resumeSleep(options) {
    return this.#send('POST', ['sleep', 'resume'], { repeatable: true, ...options });
  }

  retrySleep(options) {
    return this.#send('POST', ['sleep', 'retry'], { repeatable: true, ...options });
  }

  // Workflows

  workflow(caller, options) {
    return this.#send('GET', workflowPath(caller), { query: userOf(caller), ...options });
  }

  endWorkflow(caller, options) {
    return this.#send('POST', [...workflowPath(caller), 'end'], { query: userOf(caller), repeatable: true, ...options });
  }

  workflows(query = {}, options) {
    return this.#send('GET', ['workflows'], { query, ...options });
  }

  allWorkflows(query = {}, options) {
    return pages((after) => this.workflows({ ...query, after }, options), query.after);
  }

  // Facts

  fact(caller, path, options) {
    return this.#send('GET', ['facts', path], { query: treeOf(caller), ...options });
  }

  setFact(caller, path, value, options) {
    return this.#send('PUT', ['facts', path], { json: { value }, ...writing(treeOf(caller), options, true) });
  }

  deleteFact(caller, path, options) {
    return this.#send('DELETE', ['facts', path], writing(treeOf(caller), options, true));
  }

  facts(caller, { prefix, domain, after, limit } = {}, options) {
    return this.#send('GET', ['facts'], { query: { ...treeOf(caller), prefix, domain, after, limit }, ...options });
  }

  allFacts(caller, query = {}, options) {
    return pages((after) => this.facts(caller, { ...query, after }, options), query.after);
  }

  // Files

  uploadFile(caller, file, { name = file?.name, ...options } = {}) {
    if (!(file instanceof Blob) || !name) {
      return Promise.reject(mistake('an upload must be a File or a Blob with a name'));
    }
    const form = new FormData();
    form.append('file', file, name);
    return this.#send('POST', [...sessionPath(caller), 'files'], { query: userOf(caller), form, ...options });
  }

  files(caller, options) {
    return this.#items([...sessionPath(caller), 'files'], { query: userOf(caller), ...options });
  }

  changeFile(caller, id, change, options) {
    return this.#send('PATCH', [...sessionPath(caller), 'files', id], { query: userOf(caller), json: { value: change }, ...options });
  }

  deleteFile(caller, id, options) {
    return this.#send('DELETE', [...sessionPath(caller), 'files', id], { query: userOf(caller), ...options });
  }

  async file(caller, id, options) {
    const response = await this.#transport.send('GET', [...sessionPath(caller), 'files', id], { query: userOf(caller), ...options });
    const name = filename(response.headers.get('Content-Disposition') ?? '');
    if (name === undefined) {
      throw foreign(response.status);
    }
    try {
      return new File([await response.blob()], name, { type: response.headers.get('Content-Type') ?? '' });
    } catch (error) {
      throw this.#transport.broken(error, response, 'GET', options);
    }
  }

  // Prompts

  prompts(options) {
    return this.#items(['prompts'], options);
  }

  render(caller, prompt, { message, memory_policy, ...options } = {}) {
    const { user_id, session_id, workflow_id, agent_id } = caller ?? {};
    const value = { user_id, session_id, workflow_id, agent_id, message, memory_policy };
    return this.#send('POST', ['prompts', prompt, 'render'], { json: { value }, repeatable: true, ...options });
  }

  // Stores

  stores(options) {
    return this.#items(['stores'], options);
  }

  store(name, options) {
    return this.#send('GET', ['stores', name], options);
  }

  createStore(store, options) {
    return this.#send('POST', ['stores'], { json: { value: store }, ...options });
  }

  changeStore(store, options) {
    return this.#send('PUT', ['stores', store?.technical_name], { json: { value: store }, repeatable: true, ...options });
  }

  // Records

  record(caller, store, { projection, ...options } = {}) {
    const query = placeOf(caller);
    if (projection !== undefined) {
      query.projection = JSON.stringify(projection);
    }
    return this.#send('GET', recordPath(store), { query, ...options });
  }

  putRecord(caller, store, content, options) {
    return this.#send('PUT', recordPath(store), { json: { value: content }, ...writing(placeOf(caller), options, true) });
  }

  patchRecord(caller, store, patch, options) {
    return this.#send('PATCH', recordPath(store), { json: { value: patch, type: PATCH }, ...writing(placeOf(caller), options, false) });
  }

  deleteRecord(caller, store, options) {
    return this.#send('DELETE', recordPath(store), writing(placeOf(caller), options, true));
  }

  records(caller, store, { after, limit } = {}, options) {
    return this.#send('GET', ['stores', store, 'records'], { query: { ...placeOf(caller), after, limit }, ...options });
  }

  allRecords(caller, store, query = {}, options) {
    return pages((after) => this.records(caller, store, { ...query, after }, options), query.after);
  }

  async purgeStore(store, options) {
    return (await this.#send('DELETE', ['stores', store, 'records'], { repeatable: true, ...options })).records;
  }

  eraseUser(user, options) {
    return this.#send('DELETE', ['users', user], { repeatable: true, ...options });
  }

  async exportUser(user, options) {
    const response = await this.#transport.send('GET', ['users', user, 'export'], options);
    if (!isMedia(response, 'application/zip') || response.body === null) {
      throw foreign(response.status);
    }
    return response.body;
  }

  // The ledger, and the service

  ledger(query = {}, options) {
    return this.#send('GET', ['ledger'], { query: { ...query, since: stamp(query.since), until: stamp(query.until) }, ...options });
  }

  ledgerEntries(query = {}, options) {
    return pages((after) => this.ledger({ ...query, after }, options), query.after);
  }

  usage(query = {}, options) {
    return this.#send('GET', ['usage'], { query: { ...query, since: day(query.since), until: day(query.until) }, ...options });
  }

  allUsage(query = {}, options) {
    return pages((after) => this.usage({ ...query, after }, options), query.after);
  }

  exportApp(options) {
    return this.#send('GET', ['export'], options);
  }

  importStores(document, options) {
    return this.#send('POST', ['import'], { json: { value: document }, ...options });
  }

  async backup(options) {
    const response = await this.#transport.send('GET', ['backup'], { general: true, ...options });
    const size = Number(response.headers.get('Content-Length') ?? NaN);
    if (!Number.isSafeInteger(size) || response.headers.get('Content-Type') !== 'application/octet-stream' || response.body === null) {
      throw foreign(response.status);
    }
    let sent = 0;
    const whole = new TransformStream({
      transform(chunk, controller) {
        sent += chunk.byteLength;
        controller.enqueue(chunk);
      },
      flush: (controller) => {
        if (sent !== size) {
          controller.error(this.#transport.broken(new Error(`${sent} of ${size} bytes received`), response, 'GET', options));
        }
      },
    });
    return { size, content: response.body.pipeThrough(whole) };
  }

  whoami(options) {
    return this.#send('GET', ['whoami'], { general: true, ...options });
  }

  async #send(method, path, options) { // async: an error before the request also becomes a rejection
    return this.#transport.json(method, path, options);
  }

  async #items(path, options) {
    return (await this.#send('GET', path, options)).items;
  }
}

/** Returns the request options for a run. A run with an idempotency key can be retried. */
function running({ idempotencyKey, ...options } = {}) {
  return { headers: { 'Idempotency-Key': idempotencyKey }, repeatable: idempotencyKey !== undefined, ...options };
}

/**
 * Returns the request options for a write. A write with a revision is not retried, because it would
 * conflict with its own first attempt.
 */
function writing(query, { ifRevision, ttl, ...options } = {}, repeatable) {
  const headers = {};
  if (ifRevision === 0) {
    headers['If-None-Match'] = '*';
  } else if (ifRevision !== undefined) {
    headers['If-Match'] = `"${ifRevision}"`;
  }
  return { query: { ...query, ttl }, headers, repeatable: repeatable && ifRevision === undefined, ...options };
}

function sessionPath(caller) {
  return ['sessions', caller?.session_id];
}

function workflowPath(caller) {
  return ['workflows', caller?.workflow_id];
}

function recordPath(store) {
  return ['stores', store, 'record'];
}

function userOf(caller) {
  return { user_id: caller?.user_id };
}

function placeOf(caller) {
  return { user_id: caller?.user_id, session_id: caller?.session_id };
}

function treeOf(caller) {
  return { ...placeOf(caller), workflow_id: caller?.workflow_id };
}

function day(time) {
  return time instanceof Date ? time.toISOString().slice(0, 10) : time;
}

function stamp(time) {
  return time instanceof Date ? time.toISOString() : time;
}

/** Yields the events of a run up to its Result. */
async function* follow(response, onRunId) {
  for await (const { name, data } of events(response.body)) {
    switch (name) {
      case 'run':
        onRunId?.(JSON.parse(data).run_id);
        break;
      case 'log':
        yield { log: JSON.parse(data) };
        break;
      case 'result':
        yield { result: JSON.parse(data) };
        return;
      case 'problem':
        throw errorOfProblem(JSON.parse(data), response.status);
    }
  }
  throw new TypeError('the stream ended before the Result');
}

/**
 * Returns the file name of a Content-Disposition (RFC 6266) in the service's format, or undefined
 * for any other value.
 */
function filename(disposition) {
  if (!/^attachment(;|$)/.test(disposition)) {
    return undefined;
  }
  const encoded = /;\s*filename\*=utf-8''([^;\s]*)/i.exec(disposition);
  if (encoded) {
    try {
      return decodeURIComponent(encoded[1]);
    } catch {
      return undefined;
    }
  }
  const plain = /;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/i.exec(disposition);
  return plain ? (plain[1]?.replace(/\\(.)/g, '$1') ?? plain[2]) : '';
}
