'use strict';

// What of Node's process has a meaning in a tool. Packages that look for Node.js find none: there is no version.
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
      browser: true, // as bundlers say it of a place without Node.js
      version: '',
      versions: {},
      nextTick(callback, ...args) {
        if (typeof callback !== 'function') throw new TypeError('nextTick needs a function to call');
        Promise.resolve().then(() => { callback(...args); });
      },
      hrtime,
      uptime: () => elapsed() / 1000,
    },
  };
};
