// A setter for every name that the host may set on an object of its own.
// expect: output {"store":"vault","code":"not_found"}
for (const name of ["code", "store", "op", "hint", "message", "violations", "content", "revision"])
  Object.defineProperty(Object.prototype, name, { set() { throw new Error("stolen"); }, get: () => "planted", configurable: true });
try { await memory.get_content("vault"); } catch (e) { return { store: e.store, code: e.code }; }
