// The process that a server has as a global.
// expect: output ["undefined","undefined","undefined","undefined","undefined"]
return [typeof process, typeof Deno, typeof Bun, typeof WebAssembly, typeof fetch];
