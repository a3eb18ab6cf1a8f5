// The same under another name, in a job.
// expect: tool_error
const run = globalThis["ev" + "al"];
await Promise.resolve();
return (0, run)("1;" + "{".repeat(1e6));
