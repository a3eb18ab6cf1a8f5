// An interval keeps a run alive that waits for nothing else.
// expect: timeout
await new Promise(() => setInterval(() => {}, 5));
