// A strict store is written past its schema: by a prototype, by a second write, by a merge that makes it invalid.
// expect: output ["schema_violation","schema_violation","schema_violation"]
const codes = [];
const tries = [JSON.parse('{"__proto__":{"count":"text"}}'), { count: 1.5 }, { count: 1, constructor: 1 }];
for (const content of tries)
  try { await memory.set_content("typed", content); codes.push("taken"); } catch (e) { codes.push(e.code); }
return codes;
