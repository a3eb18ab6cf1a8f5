// The functions of Object and Reflect are the guest's.
// expect: output {"a":1} or timeout
for (const host of [Object, Reflect, Symbol, Number, Math])
  for (const name of Object.getOwnPropertyNames(host))
    if (!["getOwnPropertyNames", "prototype", "length", "name"].includes(name)) try { host[name] = () => { for (;;); }; } catch {}
console.log({ a: 1 }, 5, Symbol);
return { a: 1 };
