// A list of keys changes the object whose keys they are.
// expect: output or tool_error
const target = { a: 1 };
return new Proxy(target, { ownKeys(t) { t["k" + Object.keys(t).length] = 1; return Reflect.ownKeys(t); } });
