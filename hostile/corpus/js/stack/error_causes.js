// An error that was caused by an error, a hundred thousand times.
// expect: tool_error
let e = new Error("first");
for (let i = 0; i < 1e5; i++) e = new Error("next", { cause: e });
throw e;
