'use strict';

const { format } = require('./format.js');

// The part of Node's util that is useful in a tool.
exports.create = () => ({
  format: (...args) => format(args),
  inspect: (value) => format(['%o', value]),
  inherits(derived, base) {
    Object.defineProperty(derived, 'super_', { value: base, writable: true, configurable: true });
    Object.setPrototypeOf(derived.prototype, base.prototype);
  },
  promisify(callee) {
    if (typeof callee !== 'function') throw new TypeError('promisify requires a function');
    return function promisified(...args) {
      return new Promise((resolve, reject) => {
        callee.call(this, ...args, (error, value) => (error ? reject(error) : resolve(value)));
      });
    };
  },
  deprecate: (callee) => callee,
  isArray: Array.isArray,
  types: {
    isDate: (value) => value instanceof Date,
    isRegExp: (value) => value instanceof RegExp,
    isPromise: (value) => value instanceof Promise,
    isMap: (value) => value instanceof Map,
    isSet: (value) => value instanceof Set,
    isTypedArray: (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
    isUint8Array: (value) => value instanceof Uint8Array,
  },
  TextEncoder,
  TextDecoder,
});
