// An answer of characters that each take six to write.
// expect: output_limit
return "\u0001".repeat(3e5);
