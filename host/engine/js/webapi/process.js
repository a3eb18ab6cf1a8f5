'use strict';

// The part of Node's process that is useful in a tool. process has no version, so packages do not
// detect Node.js.
exports.create = (host) => {
  const started = host.now();
  const elapsed = () => host.now() - started;
  const hrtime = (before) => {
    const nanoseconds = Math.round(elapsed() * 1e6);
    const time = [Math.floor(nanoseconds / 1e9), nanoseconds % 1e9];
    if (!before) return time;
    const past = (time[0] - before[0]) * 1e9 + time[1] - before[1];
    return [Math.floor(past / 1e9), ((past % 1e9) + 1e9) % 1e9];
  };
  hrtime.bigint = () => BigInt(Math.round(elapsed() * 1e6));
  return {
    process: {
      env: Object.freeze({ ...host.env() }),
      argv: [],
      browser: true, // bundlers set this value in environments without Node.js
      version: '',
      versions: {},
      nextTick(callback, ...args) {
        if (typeof callback !== 'function') throw new TypeError('nextTick requires a function');
        Promise.resolve().then(() => { callback(...args); });
      },
      hrtime,
      uptime: () => elapsed() / 1000,
    },
  };
};
