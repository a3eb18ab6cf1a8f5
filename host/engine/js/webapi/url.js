'use strict';

exports.create = function create(host) {
  function parseQuery(query) {
    const pairs = [];
    for (const part of query.replace(/^\?/, '').split('&')) {
      if (part === '') continue;
      const at = part.indexOf('=');
      pairs.push(at < 0 ? [host.decode(part), ''] : [host.decode(part.slice(0, at)), host.decode(part.slice(at + 1))]);
    }
    return pairs;
  }

  function pairsOf(init) {
    if (init === undefined || init === null) return [];
    if (typeof init !== 'object') return parseQuery(String(init));
    const list = typeof init[Symbol.iterator] === 'function' ? [...init] : Object.entries(init);
    return list.map((pair) => {
      const [name, value, ...more] = pair;
      if (pair.length < 2 || more.length > 0) throw new TypeError('each entry of URLSearchParams must be a name and a value');
      return [String(name), String(value)];
    });
  }

  // The functions with which a URL and its parameters update each other: tie(query, changed) and
  // refill(params, query).
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
      return this.#pairs.map(([name, value]) => `${host.encode(name)}=${host.encode(value)}`).join('&');
    }
  }

  // The host parses a URL into its parts and can change a part.
  class URL {
    #parts;
    #params;

    constructor(url, base) {
      if (arguments.length === 0) throw new TypeError('The "url" argument must be specified');
      this.#parts = URL.#parse(String(url), base === undefined ? undefined : String(base));
    }

    static #parse(url, base) {
      const parts = host.parse(url, base);
      if (parts) return parts;
      const error = new TypeError('Invalid URL');
      error.code = 'ERR_INVALID_URL';
      error.input = url;
      if (base !== undefined) error.base = base;
      throw error;
    }

    static canParse(url, base) {
      return Boolean(host.parse(String(url), base === undefined ? undefined : String(base)));
    }

    #change(part, value) {
      const parts = host.change(this.#parts.href, part, String(value));
      if (parts) this.#parts = parts;
    }

    get href() { return this.#parts.href; }
    set href(value) {
      this.#parts = URL.#parse(String(value), undefined);
      this.#refill();
    }

    get origin() { return this.#parts.origin; }
    get protocol() { return this.#parts.protocol; }
    set protocol(value) { this.#change('protocol', value); }
    get username() { return this.#parts.username; }
    set username(value) { this.#change('username', value); }
    get password() { return this.#parts.password; }
    set password(value) { this.#change('password', value); }
    get host() { return this.#parts.host; }
    set host(value) { this.#change('host', value); }
    get hostname() { return this.#parts.hostname; }
    set hostname(value) { this.#change('hostname', value); }
    get port() { return this.#parts.port; }
    set port(value) { this.#change('port', value); }
    get pathname() { return this.#parts.pathname; }
    set pathname(value) { this.#change('pathname', value); }
    get search() { return this.#parts.search; }
    set search(value) {
      this.#change('search', value);
      this.#refill();
    }

    get hash() { return this.#parts.hash; }
    set hash(value) { this.#change('hash', value); }

    get searchParams() {
      this.#params = this.#params || tie(this.#parts.search, () => this.#change('search', this.#params.toString()));
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
