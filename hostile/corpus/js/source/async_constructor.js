// The constructor of async functions, called with new, through a proxy.
// expect: tool_error
const Async = (async () => {}).constructor;
return await new (new Proxy(Async, {}))("return " + "!".repeat(1e6) + "1")();
