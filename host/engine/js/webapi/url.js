'use strict';

const encode = (text) => encodeURIComponent(text)
  .replace(/%20/g, '+')
  .replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

function decode(text) {
  const spaced = text.replace(/\+/g, ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced; // a stray % stands for itself
  }
}

function parseQuery(query) {
  const pairs = [];
  for (const part of query.replace(/^\?/, '').split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    pairs.push(at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))]);
  }
  return pairs;
}

function pairsOf(init) {
  if (init === undefined || init === null) return [];
  if (typeof init !== 'object') return parseQuery(String(init));
  const list = typeof init[Symbol.iterator] === 'function' ? [...init] : Object.entries(init);
  return list.map((pair) => {
    const [name, value, ...more] = pair;
    if (pair.length < 2 || more.length > 0) throw new TypeError('each entry of URLSearchParams is a name and a value');
    return [String(name), String(value)];
  });
}

// What a URL does to the parameters that are part of it: tie(query, changed), refill(params, query).
let tie;
let refill;

class URLSearchParams {
  #pairs;
  #changed = () => {};

  constructor(init) {
    this.#pairs = pairsOf(init);
  }

  static {
    tie = (query, changed) => {
      const params = new URLSearchParams(query);
      params.#changed = changed;
      return params;
    };
    refill = (params, query) => {
      params.#pairs = parseQuery(query);
    };
  }

  get size() { return this.#pairs.length; }

  append(name, value) {
    this.#pairs.push([String(name), String(value)]);
    this.#changed();
  }

  delete(name, value) {
    this.#pairs = this.#pairs.filter(([n, v]) => n !== String(name) || (value !== undefined && v !== String(value)));
    this.#changed();
  }

  get(name) {
    const pair = this.#pairs.find(([n]) => n === String(name));
    return pair ? pair[1] : null;
  }

  getAll(name) {
    return this.#pairs.filter(([n]) => n === String(name)).map(([, v]) => v);
  }

  has(name, value) {
    return this.#pairs.some(([n, v]) => n === String(name) && (value === undefined || v === String(value)));
  }

  set(name, value) {
    const first = this.#pairs.find(([n]) => n === String(name));
    if (!first) {
      this.append(name, value);
      return;
    }
    first[1] = String(value);
    this.#pairs = this.#pairs.filter((pair) => pair === first || pair[0] !== String(name));
    this.#changed();
  }

  sort() {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
    this.#changed();
  }

  forEach(callback, self) {
    for (const [name, value] of this.#pairs) callback.call(self, value, name, this);
  }

  * entries() { for (const [name, value] of this.#pairs) yield [name, value]; }
  * keys() { for (const [name] of this.#pairs) yield name; }
  * values() { for (const [, value] of this.#pairs) yield value; }
  [Symbol.iterator]() { return this.entries(); }

  toString() {
    return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  }
}

exports.create = function create(host) {
  // The parts are what the host's parser makes of a URL; a part is changed by parsing the URL with it again.
  class URL {
    #parts;
    #params;

    constructor(url, base) {
      this.#parts = URL.#parse(String(url), base === undefined ? undefined : String(base));
    }

    static #parse(url, base) {
      const parts = host.parseURL(url, base);
      if (parts) return parts;
      const error = new TypeError('Invalid URL');
      error.code = 'ERR_INVALID_URL';
      error.input = url;
      throw error;
    }

    static canParse(url, base) {
      return Boolean(host.parseURL(String(url), base === undefined ? undefined : String(base)));
    }

    // What cannot be a part of a URL leaves it as it was, as the specification has it.
    #change(part, value) {
      const parts = host.parseURL(hrefOf({ ...this.#parts, [part]: value }), undefined);
      if (parts) this.#parts = parts;
    }

    get href() { return hrefOf(this.#parts); }
    set href(value) {
      this.#parts = URL.#parse(String(value), undefined);
      this.#refill();
    }

    get origin() {
      return this.#parts.special ? `${this.#parts.protocol}//${this.host}` : 'null';
    }

    get protocol() { return this.#parts.protocol; }
    set protocol(value) { this.#change('protocol', `${String(value).replace(/:.*$/s, '')}:`); }
    get username() { return this.#parts.username; }
    set username(value) { this.#change('username', encodeURIComponent(value)); }
    get password() { return this.#parts.password; }
    set password(value) { this.#change('password', encodeURIComponent(value)); }
    get hostname() { return this.#parts.hostname; }
    set hostname(value) { this.#change('hostname', String(value)); }
    get port() { return this.#parts.port; }
    set port(value) { this.#change('port', String(value)); }
    get host() { return hostOf(this.#parts); }
    set host(value) {
      const [, name, port] = /^(.*?)(?::(\d*))?$/s.exec(String(value));
      this.#change('hostname', name);
      if (port !== undefined) this.#change('port', port);
    }

    get pathname() { return this.#parts.pathname; }
    set pathname(value) {
      const path = String(value).replace(/[?#]/g, encodeURIComponent);
      this.#change('pathname', path.startsWith('/') ? path : `/${path}`);
    }

    get search() { return this.#parts.search; }
    set search(value) {
      const query = String(value).replace(/^\?/, '').replace(/#/g, '%23');
      this.#change('search', query && `?${query}`);
      this.#refill();
    }

    get hash() { return this.#parts.hash; }
    set hash(value) {
      const hash = String(value).replace(/^#/, '');
      this.#change('hash', hash && `#${hash}`);
    }

    get searchParams() {
      this.#params = this.#params || tie(this.#parts.search, () => {
        const query = this.#params.toString();
        this.#change('search', query && `?${query}`);
      });
      return this.#params;
    }

    #refill() {
      if (this.#params) refill(this.#params, this.#parts.search);
    }

    toString() { return this.href; }
    toJSON() { return this.href; }
  }

  return { URL, URLSearchParams };
};

function hostOf({ hostname, port }) {
  return port === '' ? hostname : `${hostname}:${port}`;
}

function hrefOf(parts) {
  const { protocol, username, password, pathname, search, hash } = parts;
  if (!parts.authority) return `${protocol}${pathname}${search}${hash}`;
  const user = username || password ? `${username}${password && `:${password}`}@` : '';
  return `${protocol}//${user}${hostOf(parts)}${pathname}${search}${hash}`;
}
