// A function among data is left out, with a warning.
// expect: output {"a":1}
return { a: 1, b: () => 2 };
