// A toJSON answers an object whose members throw away what was written.
// expect: output {"a":{"b":1}}
return { a: { toJSON() { return { get b() { return 1; } }; } } };
