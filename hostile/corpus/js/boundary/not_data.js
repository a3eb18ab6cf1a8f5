// A function among data: written as nothing, or not at all.
// expect: output_invalid
return { a: 1, b: () => 2 };
