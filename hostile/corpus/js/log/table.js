// The other functions of console, with what they do not expect.
// expect: output 1
for (const name of Object.getOwnPropertyNames(console)) try { console[name](null, undefined, Symbol("s"), { length: 1e9 }); } catch {}
return 1;
