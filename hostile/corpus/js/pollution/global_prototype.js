// The object that the host's globals come from is replaced, or frozen, or changed.
// expect: output
try { Object.setPrototypeOf(globalThis, { memory: null }); } catch {}
try { Object.freeze(Object.getPrototypeOf(globalThis)); } catch {}
try { Object.getPrototypeOf(globalThis).memory = null; } catch {}
return typeof memory;
