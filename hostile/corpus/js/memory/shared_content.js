// A content that is small because its parts are shared.
// expect: too_large
let shared = ["some text to be repeated"];
for (let i = 0; i < 40; i++) shared = [shared, shared];
await memory.set_content("own", { shared });
