// A timer that is given a text to run.
// expect: tool_error
setTimeout("globalThis.escaped = true", 0);
await new Promise((resolve) => setTimeout(resolve, 5));
