// A projection with a path of a hundred thousand steps.
// expect: invalid_argument or too_large
await memory.get_content("shared", { ["a" + ".a".repeat(1e5)]: 1 });
