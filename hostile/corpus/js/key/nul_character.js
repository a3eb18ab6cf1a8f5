// A NUL within a name, where a C library would end it.
// expect: output {"a":1,"a\u0000b":2}
await memory.set_content("own", { a: 1, "a\u0000b": 2 }, { replace: true });
return await memory.get_content("own");
