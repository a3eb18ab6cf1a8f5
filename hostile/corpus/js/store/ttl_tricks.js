// Times to live that run backwards, or for ever.
// expect: output []
const taken = [];
for (const ttl of [-1, 0, 1e300, "-5m", "1e9d", "99999999999999999999s", {}, [], "P1D"])
  try { await memory.set_content("own", { a: 1 }, { ttl }); taken.push(ttl); } catch (e) { if (e.code !== "invalid_argument") taken.push(e.code); }
return taken;
