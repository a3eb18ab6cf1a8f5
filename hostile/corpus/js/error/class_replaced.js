// The host's class of errors is replaced before the host makes one.
// expect: not_found
globalThis.MemoryAccessError = class { constructor() { for (;;); } };
Error = function () { throw 1; };
await memory.get_content("vault");
