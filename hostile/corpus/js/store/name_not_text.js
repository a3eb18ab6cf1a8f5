// The name of a store is an object that becomes another text each time.
// expect: invalid_argument
let asked = 0;
await memory.get_content({ toString: () => (asked++ ? "vault" : "own") });
