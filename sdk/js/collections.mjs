// The collections of an app, as a part of client.mjs.
import { pages } from './pages.mjs';
import { mistake } from './transport.mjs';

/** The collections of an app. client.d.mts describes the methods. */
export class Collections {
  #transport;

  constructor(transport) {
    this.#transport = transport;
  }

  async list(options) {
    return (await this.#transport.json('GET', ['collections'], { ...options })).items;
  }

  async get(collection, options) {
    return this.#transport.json('GET', ['collections', collection], { ...options });
  }

  async entries(collection, { namespace, user_id, session_id, after, limit } = {}, options) {
    const query = { namespace, user_id, session_id, after, limit };
    if (namespace === '') { // a query parameter without text would select all namespaces
      query.default_namespace = true;
    }
    return this.#transport.json('GET', ['collections', collection, 'entries'], { query, ...options });
  }

  allEntries(collection, query = {}, options) {
    return pages((after) => this.entries(collection, { ...query, after }, options), query.after);
  }

  async entry(collection, id, { namespace, user_id, session_id } = {}, options) {
    return this.#transport.json('GET', ['collections', collection, 'entry'], { query: { id, namespace, user_id, session_id }, ...options });
  }

  async remember(collection, entries, owner, options) {
    const json = { value: { entries } };
    return (await this.#transport.json('POST', ['collections', collection, 'entries'], { query: ownerOf(owner), json, ...options })).entries;
  }

  async recall(collection, query, { namespace, limit, threshold, filter, mode, scores, ...owner } = {}, options) {
    const json = { value: { query, namespace, limit, threshold, filter: checkFilter(filter), mode, scores } };
    return (await this.#transport.json('POST', ['collections', collection, 'recall'], { query: ownerOf(owner), json, repeatable: true, ...options })).results;
  }

  async forget(collection, { namespace, id, filter, all, ...owner } = {}, options) {
    const json = { value: { namespace, id, filter: checkFilter(filter), all } };
    return this.#transport.json('POST', ['collections', collection, 'forget'], { query: ownerOf(owner), json, ...options });
  }

  async reembed(collection, options) {
    return this.#transport.json('POST', ['collections', collection, 'reembed'], { ...options });
  }

  async importFile(collection, file, { name = file?.name, source, namespace, metadata, ttl, ...owner } = {}, options) {
    if (!(file instanceof Blob) || !name) {
      throw mistake('an imported file must be a File or a Blob with a name');
    }
    const form = new FormData();
    form.append('file', file, name);
    const query = { source, namespace, metadata: jsonOf(metadata), ttl, ...ownerOf(owner) };
    return this.#transport.json('POST', ['collections', collection, 'files'], { query, form, ...options });
  }
}

/** Returns JSON for a parameter of a query. */
function jsonOf(value) {
  try {
    return value === undefined ? undefined : JSON.stringify(value);
  } catch {
    throw mistake('the metadata cannot be encoded as JSON');
  }
}

function ownerOf({ user_id, session_id } = {}) {
  return { user_id, session_id };
}

/**
 * Returns a filter without change. It throws if JSON would omit a value of the filter or replace it
 * with null or {}, because the filter could then select other entries.
 */
function checkFilter(filter) {
  if (filter === undefined) {
    return undefined;
  }
  let wrong;
  const check = (name, value) => {
    wrong ??= isLost(value) ? name : undefined;
    return value;
  };
  try {
    JSON.stringify(filter, check);
  } catch {
    // the transport reports a filter that cannot be encoded
  }
  if (wrong !== undefined) {
    throw mistake(`the filter has no valid value for ${JSON.stringify(wrong)}`);
  }
  return filter;
}

function isLost(value) {
  return ['undefined', 'function', 'symbol'].includes(typeof value) || (typeof value === 'number' && !Number.isFinite(value)) ||
    value instanceof Map || value instanceof Set || value instanceof Promise;
}
