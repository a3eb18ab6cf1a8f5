// A plain object says that it is a Promise, an Array and a Date.
// expect: output {"a":{},"b":{}}
return { a: { [Symbol.toStringTag]: "Promise" }, b: { [Symbol.toStringTag]: "Array" } };
