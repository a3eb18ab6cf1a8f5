// A stack of a hundred million characters, with lines that look like the host's.
// expect: tool_error
const e = new Error("plain");
Object.defineProperty(e, "stack", { value: "Error: plain\n" + "\tat host.go:1:1\n".repeat(1e6) });
throw e;
