// A projection of a hundred thousand paths, each of which is looked for.
// expect: invalid_argument or too_large or output
const projection = {};
for (let i = 0; i < 1e5; i++) projection["p" + i + ".a.b.c"] = 1;
return await memory.get_content("shared", projection);
