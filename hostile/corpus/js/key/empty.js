// The name of no characters, and tens of thousands that are all different.
// expect: too_large or output_limit
const o = { "": 1 };
for (let i = 0; i < 3e4; i++) o["\u0001".repeat(i % 50) + i] = i;
await memory.set_content("own", o);
