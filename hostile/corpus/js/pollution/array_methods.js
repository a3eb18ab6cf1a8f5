// What a library, or the host's own prelude, does with arrays is the guest's.
// expect: output 1 or timeout
for (const name of Object.getOwnPropertyNames(Array.prototype))
  if (name !== "length") try { Array.prototype[name] = () => { for (;;); }; } catch {}
Array.prototype[Symbol.iterator] = function* () { for (;;) yield 1; };
console.log("a", [1], { b: 2 }, new Error("c"));
await memory.get_content("own");
return 1;
