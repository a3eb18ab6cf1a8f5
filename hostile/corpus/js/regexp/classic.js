// The classic of nested repetition, for engines that go back. One that does not answers at once.
// expect: output false
return /^(a+)+$/.test("a".repeat(60) + "!");
