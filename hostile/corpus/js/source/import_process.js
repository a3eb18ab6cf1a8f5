// The process that a server has as a global.
// expect: output [[],"undefined","undefined","undefined","undefined","undefined"]
return [Object.keys(process.versions), typeof process.exit, typeof Deno, typeof Bun, typeof WebAssembly, typeof fetch];
