// A promise that waits for itself.
// expect: tool_error
let resolve;
const p = new Promise((r) => { resolve = r; });
resolve(p);
return await p;
