// A timer throws while the tool waits for another.
// expect: tool_error
setTimeout(() => { throw new Error("from a timer"); }, 1);
await new Promise((resolve) => setTimeout(resolve, 50));
return 1;
