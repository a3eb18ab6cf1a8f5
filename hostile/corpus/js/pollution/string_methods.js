// What is done with texts is the guest's.
// expect: output 1 or timeout
for (const name of Object.getOwnPropertyNames(String.prototype))
  if (name !== "length") try { String.prototype[name] = () => { for (;;); }; } catch {}
RegExp.prototype.exec = RegExp.prototype.test = () => { for (;;); };
console.log("%s %d", "a", 1, { b: "c" });
await memory.get_content("own");
return 1;
