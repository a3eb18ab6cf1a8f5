// An array of one member at place 4,294,967,294 is an answer of as many nulls.
// expect: output_limit
const a = [];
a[2 ** 32 - 2] = 1;
return a;
