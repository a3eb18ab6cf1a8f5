// The name of a store is an array of one name, which a loose comparison takes for it.
// expect: invalid_argument
await memory.get_content(["vault"]);
