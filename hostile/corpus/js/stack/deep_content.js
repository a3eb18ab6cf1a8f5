// A content that is nested too deep to store.
// expect: too_large
let a = [];
for (let i = 0; i < 1e5; i++) a = [a];
await memory.set_content("own", { a });
