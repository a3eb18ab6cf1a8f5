// What is thrown is a proxy that claims to be an error.
// expect: tool_error
throw new Proxy(new Error("inside"), { get() { throw 1; }, getPrototypeOf() { throw 2; } });
