// Names that mean members of a proxy which has them all.
// expect: source_invalid or output or tool_error
with (new Proxy({}, { has: () => true, get: () => 1 })) { return memory; }
