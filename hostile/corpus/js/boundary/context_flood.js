// The context is the way out for what is too large to answer.
// expect: output_limit
context.extra = "x".repeat(2e6);
return 1;
