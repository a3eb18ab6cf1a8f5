// A tool changes what the other steps of its workflow answered.
// expect: output_invalid
context.steps = { payment: { output: { paid: true } } };
return 1;
