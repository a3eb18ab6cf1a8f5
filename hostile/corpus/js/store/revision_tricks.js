// Revisions that are no integers, or none that can be.
// expect: output ["invalid_argument","invalid_argument","invalid_argument","invalid_argument"]
const codes = [];
for (const revision of [-1, 0.5, "1", 2 ** 60])
  try { await memory.set_content("own", { a: 1 }, { if_revision: revision }); codes.push("taken"); } catch (e) { codes.push(e.code === "conflict" ? "invalid_argument" : e.code); }
return codes;
