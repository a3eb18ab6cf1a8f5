// An answer of two million characters.
// expect: output_limit
return "x".repeat(2e6);
