// One content of six hundred thousand small members.
// expect: too_large
await memory.set_content("own", { list: new Array(6e5).fill(0) });
