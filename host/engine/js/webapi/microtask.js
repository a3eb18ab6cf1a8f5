'use strict';

const done = Promise.resolve();

exports.create = () => ({
  // An exception becomes an unhandled rejection, which fails the run.
  queueMicrotask(callback) {
    if (typeof callback !== 'function') throw new TypeError('queueMicrotask requires a function');
    done.then(() => { callback(); });
  },
});
