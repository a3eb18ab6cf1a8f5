// Alternatives that overlap, behind a back reference that switches the engine.
// expect: timeout
// needs: wall
return /^(?:(a|a|a)\1?)+[cd]$/.test("a".repeat(60) + "c!");
