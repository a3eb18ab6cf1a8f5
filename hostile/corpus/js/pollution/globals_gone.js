// Every global that can be deleted is gone.
// expect: output 1
const all = globalThis;
for (const name of Object.getOwnPropertyNames(all)) delete all[name];
return 1;
