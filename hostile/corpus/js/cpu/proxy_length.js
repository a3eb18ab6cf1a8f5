// A built-in function asks a proxy for 2^53 - 1 members, one trap at a time.
// expect: timeout
const endless = new Proxy({}, { get: (_, key) => (key === "length" ? 2 ** 53 - 1 : 0), has: () => true });
return Array.prototype.includes.call(endless, 1);
