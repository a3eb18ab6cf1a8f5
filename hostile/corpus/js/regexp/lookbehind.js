// A lookbehind that tries every beginning.
// expect: timeout
// needs: wall
return /(?<=!(a|aa)+)$/.test("a".repeat(60));
