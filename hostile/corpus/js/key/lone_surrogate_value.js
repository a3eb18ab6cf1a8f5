// A text with half of a pair, which no UTF-8 can hold.
// expect: invalid_argument
await memory.set_content("own", { name: "a\udc00b" });
