// A lookahead around nested repetitions.
// expect: timeout
// needs: wall
return /^(?=((a+)+)b)/.test("a".repeat(60));
