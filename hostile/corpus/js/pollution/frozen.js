// All that the host could want to change is frozen.
// expect: output {"a":1}
for (const name of Object.getOwnPropertyNames(globalThis)) try { Object.freeze(globalThis[name]); Object.freeze(globalThis[name].prototype); } catch {}
await memory.set_content("own", { a: 1 }, { replace: true });
return await memory.get_content("own");
