// The context contains itself.
// expect: output_invalid
context.self = context;
return 1;
