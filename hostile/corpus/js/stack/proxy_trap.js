// A trap that asks its own proxy.
// expect: stack_limit
const p = new Proxy({}, { get: (_, key, self) => self[key] });
return p.a;
