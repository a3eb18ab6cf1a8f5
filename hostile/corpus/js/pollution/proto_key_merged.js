// A merge into a content by the names that lead to a prototype.
// expect: output {"polluted":false}
await memory.set_content("own", { a: {} }, { replace: true });
await memory.set_content("own", JSON.parse('{"constructor":{"prototype":{"polluted":1}},"a":{"__proto__":{"polluted":1}}}'));
await memory.get_content("own");
return { polluted: "polluted" in {} };
