'use strict';

class DataCloneError extends Error {
  constructor(value) {
    super(`${typeof value === 'symbol' ? 'a symbol' : 'a function'} cannot be cloned`);
    this.name = 'DataCloneError';
    this.code = 25;
  }
}

// copyOf returns an object of the same kind and value, but without the members.
function copyOf(object) {
  if (Array.isArray(object)) return new Array(object.length);
  if (object instanceof Date) return new Date(object.getTime());
  if (object instanceof RegExp) return new RegExp(object.source, object.flags);
  if (object instanceof Map) return new Map();
  if (object instanceof Set) return new Set();
  if (object instanceof ArrayBuffer) return object.slice(0);
  if (object instanceof Number || object instanceof String || object instanceof Boolean) return Object(object.valueOf());
  if (object instanceof Error) return copyError(object);
  return {};
}

function copyError(error) {
  const known = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
  const Kind = known.find((kind) => error.name === kind.name) || Error;
  const copy = new Kind(error.message);
  Object.defineProperty(copy, 'stack', { value: error.stack, writable: true, configurable: true });
  return copy;
}

function clone(value, seen) {
  if (typeof value === 'function' || typeof value === 'symbol') throw new DataCloneError(value);
  if (typeof value !== 'object' || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  if (ArrayBuffer.isView(value)) return cloneView(value, seen);

  const copy = copyOf(value);
  seen.set(value, copy);
  if (value instanceof Map) {
    for (const [key, item] of value) copy.set(clone(key, seen), clone(item, seen));
  } else if (value instanceof Set) {
    for (const item of value) copy.add(clone(item, seen));
  } else if (Array.isArray(value) || Object.prototype.toString.call(value) === '[object Object]') {
    for (const key of Object.keys(value)) {
      Object.defineProperty(copy, key, {
        value: clone(value[key], seen), writable: true, enumerable: true, configurable: true,
      });
    }
  }
  return copy;
}

function cloneView(view, seen) {
  const buffer = clone(view.buffer, seen);
  const length = view instanceof DataView ? view.byteLength : view.length;
  const copy = new view.constructor(buffer, view.byteOffset, length);
  seen.set(view, copy);
  return copy;
}

exports.create = () => ({
  structuredClone: (value) => clone(value, new Map()),
});
