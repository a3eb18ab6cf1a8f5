// Names that every object has from its prototype.
// expect: output {"hasOwnProperty":1,"toString":2,"valueOf":3}
await memory.set_content("own", { hasOwnProperty: 1, toString: 2, valueOf: 3 }, { replace: true });
return await memory.get_content("own");
