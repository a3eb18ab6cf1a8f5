// The methods of Set call those of an object that only claims to be one.
// expect: timeout or tool_error
const endless = { size: Infinity, has: () => true, keys: () => ({ next: () => ({ value: 1, done: false }) }) };
return new Set([1, 2, 3]).isSupersetOf(endless);
