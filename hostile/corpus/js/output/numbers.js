// An answer of a million numbers.
// expect: output_limit
return new Array(1e6).fill(1.5);
