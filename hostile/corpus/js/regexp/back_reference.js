// A back reference makes the pattern exponential: no linear engine can take it.
// expect: timeout
// needs: wall
return /^(a+)+\1b$/.test("a".repeat(60));
