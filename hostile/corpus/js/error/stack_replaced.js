// An error whose stack is a getter.
// expect: tool_error
const e = new Error("plain");
Object.defineProperty(e, "stack", { get() { throw new Error("no stack"); } });
throw e;
