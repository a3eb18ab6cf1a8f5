// Names that are no texts.
// expect: output {"a":1}
return { a: 1, [Symbol("b")]: 2, [Symbol.iterator]: 3 };
