// Two names that differ in half of a pair, which UTF-8 writes alike.
// expect: invalid_argument
await memory.set_content("own", { "\ud800": 1, "\udbff": 2 });
