'use strict';

const done = Promise.resolve();

exports.create = () => ({
  // A function that throws leaves a rejection that nothing handles, which fails the run.
  queueMicrotask(callback) {
    if (typeof callback !== 'function') throw new TypeError('queueMicrotask needs a function to call');
    done.then(() => { callback(); });
  },
});
