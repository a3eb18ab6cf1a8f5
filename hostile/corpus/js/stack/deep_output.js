// An answer that is nested a million deep.
// expect: output_invalid
let a = [];
for (let i = 0; i < 1e5; i++) a = { a };
return a;
