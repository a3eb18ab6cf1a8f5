// Names of stores that are paths, prototypes, or other spellings of one that exists.
// expect: output []
const found = [];
for (const name of ["VAULT", "vault\u0000", "own/../vault", "./vault", "__proto__", "constructor", "toString", "", " ", "vault ", "\u202evault", "v\u0430ult", "*", "%76ault", "0", "default"])
  try { await memory.get_content(name); found.push(name); } catch (e) { if (!["not_found", "invalid_argument"].includes(e.code)) found.push(e.code); }
return found;
