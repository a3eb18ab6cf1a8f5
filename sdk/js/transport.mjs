// Sends the requests of client.mjs and creates the errors for failed requests.

/**
 * The error of a failed call. Its code is stable. Its message can change. Errors do not contain the
 * client's key.
 */
export class ToolrunError extends Error {
  constructor(message, { code, status = 0, hint, store, item, violations = [], details = [], runId, outcome, retryAfter, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { code, status, hint, store, item, violations, details, runId, outcome, retryAfter });
  }
}

// The name is on the prototype, as in built-in errors: as an own property, it would be shown when
// the error is printed.
ToolrunError.prototype.name = 'ToolrunError';

/** Returns the error for an invalid argument. Nothing has been sent. */
export function mistake(message) {
  return new ToolrunError(message, { code: 'invalid_argument' });
}

const PREFIX = '/api/v1';
const DEFAULT_RETRIES = 3;
// A request is not retried if the service requests a longer delay.
const MAX_RETRY_SECONDS = 30;
// The error codes of failed connections. The service has not executed the request.
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/**
 * Sends the requests of one client. The key is in a private field, so printing a client does not
 * show it.
 */
export class Transport {
  #base;
  #key;
  #app;
  #fetch;
  #retries;

  constructor({ url, key = '', app = '', fetch = globalThis.fetch, retries = DEFAULT_RETRIES } = {}) {
    this.#base = parseBase(url);
    if (typeof key !== 'string' || /[^!-~]/.test(key)) { // fetch would quote an invalid key in its error
      throw mistake('the option "key" contains invalid characters');
    }
    if (typeof fetch !== 'function') {
      throw mistake('fetch is not available; pass the option fetch');
    }
    this.#key = key;
    this.#app = app;
    this.#fetch = fetch;
    this.#retries = retries;
  }

  /** Sends a request and returns the JSON of the response. */
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
   * Sends a request and returns a successful response. A repeatable request is retried if the
   * service is busy and requests a retry.
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

  /** Returns the error for a response that broke off. */
  broken(error, response, method, { signal } = {}) {
    return error instanceof ToolrunError ? error : this.#unanswered(error, 'the response ended early', { method, signal }, response.status);
  }

  async #once(address, request) {
    const fetch = this.#fetch; // browsers reject fetch called as a method
    try {
      return await fetch(address, request);
    } catch (error) {
      throw this.#unanswered(error, 'cannot reach the service', request, 0);
    }
  }

  #address(path, query) {
    let address = this.#base + PREFIX;
    for (const segment of path) {
      // Reject these segments, because proxies and routers remove or resolve them.
      if (typeof segment !== 'string' || ['', '.', '..'].includes(segment) || !segment.isWellFormed()) {
        throw mistake(`the text ${JSON.stringify(segment)} is not a valid name or id`);
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
      throw mistake('a value contains characters that are invalid in a header');
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

  /**
   * Returns the error for a missing or incomplete response. The error omits the cause of fetch's
   * error, which can contain arbitrary data.
   */
  #unanswered(error, what, { method, signal }, status) {
    const reason = String(error?.cause?.code ?? error?.cause?.message ?? error?.message ?? error);
    const outcome = method === 'GET' || UNSENT.has(reason) ? undefined : 'unknown';
    if (signal?.aborted) {
      return stopped(signal, outcome, status);
    }
    const redacted = this.#key === '' ? reason : reason.replaceAll(this.#key, '...');
    return new ToolrunError(`${what}: ${redacted}`, { code: 'unavailable', outcome, status });
  }
}

/**
 * Checks and normalizes the URL of a service. Errors do not quote the URL, because it can contain a
 * password.
 */
function parseBase(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw mistake('the option "url" is required, such as https://tools.example');
  }
  if (url.username || url.password || url.search || url.hash || /[?#]$/.test(text)) {
    throw mistake('the option "url" must not contain a user name, a query or a fragment');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw mistake('the option "url" must be an HTTP address such as https://tools.example');
  }
  return url.href.replace(/\/+$/, '');
}

function encode(value) {
  let text;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw mistake(`cannot encode the request as JSON: ${error.message}`);
  }
  if (text === undefined) {
    throw mistake('cannot encode the request as JSON: undefined');
  }
  return text;
}

/** Returns the error for a request whose signal was aborted. */
function stopped(signal, outcome, status) {
  const late = signal.reason?.name === 'TimeoutError';
  return new ToolrunError(late ? 'the service did not respond in time' : 'the request was canceled', {
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

/** Returns the error for an unsuccessful response. */
async function errorOf(response) {
  const retryAfter = /^\d+$/.test(response.headers.get('Retry-After') ?? '') ? Number(response.headers.get('Retry-After')) : undefined;
  let problem;
  try {
    problem = isMedia(response, 'application/problem+json') ? await response.json() : undefined;
  } catch {
    // treat an invalid document as missing
  }
  await response.body?.cancel().catch(() => {}); // discards the unread rest
  const error = problem?.code ? errorOfProblem(problem, response.status) : foreign(response.status);
  error.retryAfter = retryAfter;
  return error;
}

/** Returns the error for a problem document (RFC 9457), which must have a code. */
export function errorOfProblem(problem, status) {
  const details = problem.errors ?? [];
  const more = details.map(({ message, location }) => (location ? `${message} (${location})` : message)).join('; ');
  return new ToolrunError(more ? `${problem.detail}: ${more}` : problem.detail, {
    code: problem.code, status, hint: problem.hint, store: problem.store, item: problem.item, violations: problem.violations, details,
    runId: problem.run_id, outcome: problem.outcome,
  });
}

// Maps HTTP statuses to fault codes for responses without a problem document, such as the responses
// of a proxy.
const FOREIGN = { 400: 'invalid_argument', 401: 'access_denied', 403: 'access_denied', 404: 'not_found', 407: 'access_denied', 413: 'too_large' };

export function foreign(status) {
  return new ToolrunError(`the response with status ${status} is not from a toolrun service`, {
    code: FOREIGN[status] ?? 'unavailable', status, hint: 'check the URL, and whether a proxy sent the response',
  });
}

export function isMedia(response, type) {
  return (response.headers.get('Content-Type') ?? '').split(';')[0].trim().toLowerCase() === type;
}
