// How client.mjs asks the service, and what it makes of the answers.

/** Why a call failed. Its code never changes; its message may. No error holds the client's key. */
export class ToolrunError extends Error {
  constructor(message, { code, status = 0, hint, store, item, violations = [], details = [], runId, outcome, retryAfter, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { code, status, hint, store, item, violations, details, runId, outcome, retryAfter });
  }
}

// On the prototype, as the built-in errors have it: an own property would show up when an error is printed.
ToolrunError.prototype.name = 'ToolrunError';

/** An error of the caller's: nothing was sent. */
export function mistake(message) {
  return new ToolrunError(message, { code: 'invalid_argument' });
}

const PREFIX = '/api/v1';
const DEFAULT_RETRIES = 3;
// A service that asks to wait for longer than this is not asked again.
const MAX_RETRY_SECONDS = 30;
// With these no connection was made, so that nothing was carried out.
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** Sends the requests of one client. The key is private: no way of printing a client shows it. */
export class Transport {
  #base;
  #key;
  #app;
  #fetch;
  #retries;

  constructor({ url, key = '', app = '', fetch = globalThis.fetch, retries = DEFAULT_RETRIES } = {}) {
    this.#base = parseBase(url);
    if (typeof key !== 'string' || /[^!-~]/.test(key)) { // fetch would quote it in its error
      throw mistake('key holds spaces, line breaks or letters that no key has');
    }
    if (typeof fetch !== 'function') {
      throw mistake('there is no fetch: give one');
    }
    this.#key = key;
    this.#app = app;
    this.#fetch = fetch;
    this.#retries = retries;
  }

  /** Sends a request and answers its JSON. */
  async json(method, path, options) {
    const response = await this.send(method, path, options);
    let text;
    try {
      text = await response.text();
    } catch (error) {
      throw this.broken(error, response, method, options);
    }
    try {
      return JSON.parse(text);
    } catch {
      throw foreign(response.status);
    }
  }

  /**
   * Sends a request until it is answered with a success. A request that is repeatable is sent again where the service
   * says that it is busy, and for how long.
   */
  async send(method, path, { query = {}, headers = {}, json, form, repeatable = method === 'GET', general = false, signal } = {}) {
    const address = this.#address(path, general ? query : { ...query, app: this.#app });
    const request = { method, redirect: 'manual', credentials: 'omit', cache: 'no-store', signal };
    request.headers = this.#headers(headers, json);
    request.body = json === undefined ? form : encode(json.value);
    for (let attempt = 0; ; attempt++) {
      if (signal?.aborted) {
        throw stopped(signal);
      }
      const response = await this.#once(address, request);
      if (response.ok) {
        return response;
      }
      const error = await errorOf(response);
      const passes = response.status === 429 || response.status === 503;
      if (!repeatable || !passes || attempt >= this.#retries || !(error.retryAfter > 0 && error.retryAfter <= MAX_RETRY_SECONDS)) {
        throw error;
      }
      await sleep(error.retryAfter * 1000, signal);
    }
  }

  /** The error of an answer that began and did not come to its end. */
  broken(error, response, method, { signal } = {}) {
    return error instanceof ToolrunError ? error : this.#unanswered(error, 'the answer broke off', { method, signal }, response.status);
  }

  async #once(address, request) {
    const fetch = this.#fetch; // a browser's wants to be called as a function
    try {
      return await fetch(address, request);
    } catch (error) {
      throw this.#unanswered(error, 'the service cannot be reached', request, 0);
    }
  }

  #address(path, query) {
    let address = this.#base + PREFIX;
    for (const segment of path) {
      // Neither has a way through proxies and routers, which take them for no segment, or for one less.
      if (typeof segment !== 'string' || ['', '.', '..'].includes(segment) || !segment.isWellFormed()) {
        throw mistake(`${JSON.stringify(segment)} is no name or id that can be asked for`);
      }
      address += `/${encodeURIComponent(segment)}`;
    }
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return text === '' ? address : `${address}?${text}`;
  }

  #headers(given, json) {
    const headers = new Headers();
    try {
      for (const [name, value] of Object.entries(given)) {
        if (value !== undefined) {
          headers.set(name, value);
        }
      }
    } catch {
      throw mistake('a value holds what no header may');
    }
    if (!headers.has('Accept')) {
      headers.set('Accept', 'application/json');
    }
    if (json !== undefined) {
      headers.set('Content-Type', json.type ?? 'application/json');
    }
    if (this.#key !== '') {
      headers.set('Authorization', `Bearer ${this.#key}`);
    }
    return headers;
  }

  /** The error of a request that has no answer, or no whole one. The cause of fetch is not kept: it may hold anything. */
  #unanswered(error, what, { method, signal }, status) {
    const reason = String(error?.cause?.code ?? error?.cause?.message ?? error?.message ?? error);
    const outcome = method === 'GET' || UNSENT.has(reason) ? undefined : 'unknown';
    if (signal?.aborted) {
      return stopped(signal, outcome, status);
    }
    const told = this.#key === '' ? reason : reason.replaceAll(this.#key, '...');
    return new ToolrunError(`${what}: ${told}`, { code: 'unavailable', outcome, status });
  }
}

/** Checks the URL of a service. Its errors do not quote one that may hold a password. */
function parseBase(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw mistake('url is required: an address such as https://tools.example');
  }
  if (url.username || url.password || url.search || url.hash || /[?#]$/.test(text)) {
    throw mistake('url has a user, a query or a fragment; it is an address alone');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw mistake('url is no address such as https://tools.example');
  }
  return url.href.replace(/\/+$/, '');
}

function encode(value) {
  let text;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw mistake(`the request is no JSON: ${error.message}`);
  }
  if (text === undefined) {
    throw mistake('the request is no JSON: undefined');
  }
  return text;
}

/** The error of a request whose signal said so. */
function stopped(signal, outcome, status) {
  const late = signal.reason?.name === 'TimeoutError';
  return new ToolrunError(late ? 'the service did not answer in time' : 'the request was cancelled', {
    code: late ? 'timeout' : 'cancelled', outcome, status, cause: signal.reason,
  });
}

function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(stopped(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Reads an answer that is no success. */
async function errorOf(response) {
  const retryAfter = /^\d+$/.test(response.headers.get('Retry-After') ?? '') ? Number(response.headers.get('Retry-After')) : undefined;
  let problem;
  try {
    problem = isMedia(response, 'application/problem+json') ? await response.json() : undefined;
  } catch {
    // as if there were none
  }
  await response.body?.cancel().catch(() => {}); // of what was not read
  const error = problem?.code ? errorOfProblem(problem, response.status) : foreign(response.status);
  error.retryAfter = retryAfter;
  return error;
}

/** Makes an error of a problem document (RFC 9457), which has to have a code. */
export function errorOfProblem(problem, status) {
  const details = problem.errors ?? [];
  const more = details.map(({ message, location }) => (location ? `${message} (${location})` : message)).join('; ');
  return new ToolrunError(more ? `${problem.detail}: ${more}` : problem.detail, {
    code: problem.code, status, hint: problem.hint, store: problem.store, item: problem.item, violations: problem.violations, details,
    runId: problem.run_id, outcome: problem.outcome,
  });
}

// The codes of answers that are no problem documents: those of a proxy, or of another service.
const FOREIGN = { 400: 'invalid_argument', 401: 'access_denied', 403: 'access_denied', 404: 'not_found', 407: 'access_denied', 413: 'too_large' };

export function foreign(status) {
  return new ToolrunError(`the answer, with status ${status}, is not that of a toolrun service`, {
    code: FOREIGN[status] ?? 'unavailable', status, hint: 'is the URL that of the service? A proxy may stand between',
  });
}

export function isMedia(response, type) {
  return (response.headers.get('Content-Type') ?? '').split(';')[0].trim().toLowerCase() === type;
}
