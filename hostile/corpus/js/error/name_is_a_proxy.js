// An error whose name and message are proxies.
// expect: tool_error
const e = new Error("plain");
e.name = new Proxy({}, { get() { throw e; } });
e.message = new Proxy(() => {}, {});
throw e;
