// A generator that delegates to one that delegates, and so on: each step resumes them all.
// expect: stack_limit or memory_limit
// timeout: 20s
function* layer(inner) { yield* inner; }
let g = [1][Symbol.iterator]();
for (let i = 0; i < 1e6; i++) g = layer(g);
return g.next().value;
