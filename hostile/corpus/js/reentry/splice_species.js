// The class that a built-in function makes its result of writes into the array it came from.
// expect: output or tool_error
const a = [1, 2, 3, 4];
a.constructor = { [Symbol.species]: function () { a.length = 0; return new Proxy([], { defineProperty() { a.push(1); return true; } }); } };
a.splice(0, 4);
return a.length;
