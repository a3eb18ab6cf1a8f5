// An option is a getter that changes the content after it was read.
// expect: output {"a":1}
const content = { a: 1 };
await memory.set_content("own", content, { get replace() { content.a = 2; return true; } });
return await memory.get_content("own");
