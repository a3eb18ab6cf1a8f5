'use strict';

// What asynchronous generators and for await are made of. The bundler rewrites an asynchronous generator to a plain one,
// which yields an Await for each await in it, and takes the values of yield* from delegate. Here is what drives it: ECMA-262,
// sections 27.1.6 and 27.6.

const { asyncIterator, iterator, toStringTag } = Symbol;
const { apply, getPrototypeOf } = Reflect;
const { defineProperty, setPrototypeOf } = Object;
const plain = getPrototypeOf(getPrototypeOf((function* () {})()));
const resumptions = { __proto__: null, next: plain.next, throw: plain.throw, return: plain.return };

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

const checked = (result) => {
  if (!isObject(result)) throw new TypeError('Iterator result ' + String(result) + ' is not an object');
  return result;
};

const methodOf = (object, name) => {
  const method = object[name];
  if (method === undefined || method === null) return undefined;
  if (typeof method !== 'function') throw new TypeError('the iterator has a member ' + name + ' that is no function');
  return method;
};

// wait calls one of two functions with what a value settles to.
const wait = async (value, yes, no) => {
  try { value = await value; } catch (error) { no(error); return; }
  yes(value);
};

// Delegated is a promise of an iterator's answer, and how the generator goes on with it.
class Delegated { constructor(value, kind) { this.value = value; this.kind = kind; } }

// Raw is a value that is yielded as it is.
class Raw { constructor(value) { this.value = value; } }

const START = 0, YIELDED = 1, RUNNING = 2, DONE = 3;

class AsyncGenerator {
  #body;
  #Await;
  #first; // of the requests, each of which knows the one behind it
  #last;
  #state = START;

  constructor(body, Await) { this.#body = body; this.#Await = Await; }

  static ask(self, kind, value) {
    return new Promise((resolve, reject) => { self.#ask({ kind, value, resolve, reject }); });
  }

  #ask(request) {
    const { kind, value } = request;
    if (kind === 'throw' && this.#state === START) this.#state = DONE;
    if (this.#state === DONE && kind !== 'return') {
      kind === 'throw' ? request.reject(value) : request.resolve({ value: undefined, done: true });
      return;
    }
    if (this.#first === undefined) this.#first = request;
    else this.#last.behind = request;
    this.#last = request;
    if (kind === 'return' && (this.#state === START || this.#state === DONE)) this.#awaitReturn();
    else if (this.#state !== RUNNING) this.#resume();
  }

  // resume goes on with the first request. A return awaits its value where the generator stands.
  #resume() {
    const { kind, value } = this.#first;
    this.#state = RUNNING;
    if (kind === 'return') this.#wait(value, 'return');
    else this.#step(kind, value);
  }

  #wait(value, kind) { wait(value, (v) => this.#step(kind, v), (e) => this.#step('throw', e)); }

  #step(kind, given) {
    let result;
    try { result = apply(resumptions[kind], this.#body, [given]); } catch (error) {
      this.#settle('reject', error);
      this.#drain();
      return;
    }
    const { value } = result;
    if (result.done) {
      this.#settle('resolve', { value, done: true });
      this.#drain();
    } else if (value instanceof this.#Await) this.#wait(value[0], 'next');
    else if (value instanceof Delegated) this.#wait(value.value, value.kind);
    else if (value instanceof Raw) this.#yield(value.value);
    else wait(value, (v) => this.#yield(v), (e) => this.#step('throw', e));
  }

  #yield(value) {
    this.#settle('resolve', { value, done: false });
    if (this.#first !== undefined) this.#resume();
    else this.#state = YIELDED;
  }

  #settle(how, value) {
    const request = this.#first;
    this.#first = request.behind;
    request[how](value);
  }

  // drain answers the requests that wait when the generator has ended.
  #drain() {
    while (this.#first !== undefined) {
      const { kind, value } = this.#first;
      if (kind === 'return') { this.#awaitReturn(); return; }
      kind === 'throw' ? this.#settle('reject', value) : this.#settle('resolve', { value: undefined, done: true });
    }
    this.#state = DONE;
  }

  #awaitReturn() {
    this.#state = RUNNING;
    wait(this.#first.value,
      (value) => { this.#settle('resolve', { value, done: true }); this.#drain(); },
      (error) => { this.#settle('reject', error); this.#drain(); });
  }
}

const { ask } = AsyncGenerator;

// hide gives an object hidden members, and returns it.
const hide = (object, members, tag) => {
  for (const key of Reflect.ownKeys(members)) defineProperty(object, key, { __proto__: null, value: members[key], writable: true, enumerable: false, configurable: true });
  if (tag !== undefined) defineProperty(object, toStringTag, { __proto__: null, value: tag, writable: false, enumerable: false, configurable: true });
  return object;
};

const AsyncIteratorPrototype = hide({}, { [asyncIterator]() { return this; } });

const AsyncGeneratorPrototype = hide(AsyncGenerator.prototype, {
  next(value) { return ask(this, 'next', value); },
  return(value) { return ask(this, 'return', value); },
  throw(value) { return ask(this, 'throw', value); },
}, 'AsyncGenerator');
delete AsyncGeneratorPrototype.constructor;
setPrototypeOf(AsyncGeneratorPrototype, AsyncIteratorPrototype);

// fromSync makes an asynchronous iterator of an iterable.
const fromSync = (iterable) => {
  const begin = methodOf(iterable, iterator);
  if (begin === undefined) throw new TypeError('the value is not async iterable');
  const source = checked(apply(begin, iterable, []));
  const { next } = source;
  const proceed = async (method, given, closes) => {
    const result = checked(apply(method, source, given));
    const done = !!result.done;
    let { value } = result;
    try { value = await value; } catch (error) {
      if (!done && closes) {
        try { const close = methodOf(source, 'return'); if (close !== undefined) apply(close, source, []); } catch { /* the first error counts */ }
      }
      throw error;
    }
    return { value, done };
  };
  return {
    next: (...given) => proceed(next, given, true),
    return: async (...given) => {
      const method = methodOf(source, 'return');
      return method === undefined ? { value: given[0], done: true } : proceed(method, given, false);
    },
    throw: async (...given) => {
      const method = methodOf(source, 'throw');
      if (method !== undefined) return proceed(method, given, true);
      const close = methodOf(source, 'return');
      if (close !== undefined) checked(apply(close, source, []));
      throw new TypeError('the iterator has no method throw');
    },
  };
};

const iterate = (iterable) => {
  const begin = methodOf(iterable, asyncIterator);
  return begin === undefined ? fromSync(iterable) : checked(apply(begin, iterable, []));
};

// What the answer that is waited for is to delegate.
const ANSWER = 1, VALUE = 2, CLOSED = 3;

// delegate makes the iterator of a yield*. Each request to it yields what the iterator within promises, and the next call
// has what became of the promise.
const delegate = (iterable) => {
  const source = iterate(iterable);
  const { next } = source;
  let waiting = 0;
  const request = (method, given, kind, what = ANSWER) => {
    const value = method === undefined ? given[0] : apply(method, source, given);
    waiting = what;
    return { value: new Delegated(value, kind), done: false };
  };
  const answer = (result) => {
    const what = waiting;
    waiting = 0;
    if (what === VALUE) return { value: result, done: true };
    const done = !!checked(result).done;
    if (what === CLOSED) throw new TypeError('the iterator has no method throw');
    const { value } = result;
    return { value: done ? value : new Raw(value), done };
  };
  return {
    [iterator]() { return this; },
    next: (value) => waiting ? answer(value) : request(next, [value], 'next'),
    return(value) {
      if (waiting) return answer(value);
      const method = methodOf(source, 'return');
      return request(method, [value], 'return', method === undefined ? VALUE : ANSWER);
    },
    throw(error) {
      if (waiting) { waiting = 0; throw error; }
      const method = methodOf(source, 'throw');
      if (method !== undefined) return request(method, [error], 'next');
      const close = methodOf(source, 'return');
      if (close === undefined) throw new TypeError('the iterator has no method throw');
      return request(close, [], 'next', CLOSED);
    },
  };
};

exports.create = () => ({
  '\0asyncGenerator': (Await) => (self, given, body) => new AsyncGenerator(apply(body, self, given === null ? [] : given), Await),
  '\0yieldStar': delegate,
  '\0forAwait': iterate,
});
