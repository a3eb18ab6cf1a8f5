'use strict';

// The runtime of async generators and for await. The bundler rewrites each async generator to a
// plain generator, which yields an Await for each await and uses delegate for yield*. This module
// runs the plain generator as ECMA-262 specifies in sections 27.1.6 and 27.6.

const { asyncIterator, iterator, toStringTag } = Symbol;
const { apply, getPrototypeOf } = Reflect;
const { create, defineProperty, setPrototypeOf } = Object;
const FunctionOfText = Function;
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
  if (typeof method !== 'function') throw new TypeError('the iterator has a property ' + name + ' that is not a function');
  return method;
};

const { resolve } = Promise, { then } = Promise.prototype;

// wait calls one of two functions with the settled value of a promise. If the constructor of a
// promise throws, no catch clause around goja's own await catches the exception.
const wait = (value, yes, no) => {
  try { apply(then, apply(resolve, Promise, [value]), [yes, no]); } catch (error) { no(error); }
};

// Delegated contains the promise of an iterator's result and describes how to resume the generator.
class Delegated { constructor(value, kind) { this.value = value; this.kind = kind; } }

// Raw is a value that is yielded without an await.
class Raw { constructor(value) { this.value = value; } }

const START = 0, YIELDED = 1, RUNNING = 2, DONE = 3;

class AsyncGenerator {
  #body;
  #Await;
  #first; // of the linked list of requests
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

  // resume continues with the first request. A return awaits its value at the current position of
  // the generator.
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

  // drain settles the pending requests after the generator has ended.
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

// hide defines members that are not enumerable, and returns the object.
const hide = (object, members, writable = true) => {
  for (const key of Reflect.ownKeys(members)) defineProperty(object, key, { __proto__: null, value: members[key], writable, enumerable: false, configurable: true });
  return object;
};

const AsyncIteratorPrototype = hide({}, { [asyncIterator]() { return this; } });

const AsyncGeneratorPrototype = hide(AsyncGenerator.prototype, {
  next(value) { return ask(this, 'next', value); },
  return(value) { return ask(this, 'return', value); },
  throw(value) { return ask(this, 'throw', value); },
});
setPrototypeOf(AsyncGeneratorPrototype, AsyncIteratorPrototype);

// The constructor would create code from text, which is disabled.
const AsyncGeneratorFunction = setPrototypeOf(function AsyncGeneratorFunction(text) { return FunctionOfText(text); }, FunctionOfText);

const AsyncGeneratorFunctionPrototype = hide(create(FunctionOfText.prototype), {
  constructor: AsyncGeneratorFunction, prototype: AsyncGeneratorPrototype, [toStringTag]: 'AsyncGeneratorFunction',
}, false);
defineProperty(AsyncGeneratorFunction, 'prototype', { value: AsyncGeneratorFunctionPrototype, writable: false });
hide(AsyncGeneratorPrototype, { constructor: AsyncGeneratorFunctionPrototype, [toStringTag]: 'AsyncGenerator' }, false);

// mark sets the prototypes by which libraries recognize an async generator function.
const mark = (f) => {
  setPrototypeOf(f, AsyncGeneratorFunctionPrototype);
  f.prototype = create(AsyncGeneratorPrototype);
  return f;
};

// fromSync returns an async iterator for an iterable.
const fromSync = (iterable) => {
  const begin = methodOf(iterable, iterator);
  if (begin === undefined) throw new TypeError('the value is not async iterable');
  const source = checked(apply(begin, iterable, []));
  const { next } = source;
  const close = () => {
    const method = methodOf(source, 'return');
    if (method !== undefined) checked(apply(method, source, []));
  };
  const proceed = (yes, no, method, given, closes) => {
    const result = checked(apply(method, source, given));
    const done = !!result.done;
    const { value } = result;
    wait(value, (v) => yes({ value: v, done }), (error) => {
      if (!done && closes) try { close(); } catch { /* the first error counts */ }
      no(error);
    });
  };
  return {
    next: (...given) => new Promise((yes, no) => { proceed(yes, no, next, given, true); }),
    return: (...given) => new Promise((yes, no) => {
      const method = methodOf(source, 'return');
      if (method === undefined) yes({ value: given[0], done: true });
      else proceed(yes, no, method, given, false);
    }),
    throw: (...given) => new Promise((yes, no) => {
      const method = methodOf(source, 'throw');
      if (method !== undefined) { proceed(yes, no, method, given, true); return; }
      close();
      throw new TypeError('the iterator has no method throw');
    }),
  };
};

const iterate = (iterable) => {
  const begin = methodOf(iterable, asyncIterator);
  return begin === undefined ? fromSync(iterable) : checked(apply(begin, iterable, []));
};

// The kinds of results that delegate waits for.
const ANSWER = 1, VALUE = 2, CLOSED = 3;

// delegate returns the iterator for a yield*. Each request yields the promise of the inner
// iterator, and the next call receives the result of the promise.
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
  '\0asyncGeneratorFunction': mark,
});
