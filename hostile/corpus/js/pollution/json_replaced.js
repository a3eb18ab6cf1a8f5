// The functions that values could cross by are the guest's.
// expect: output {"own":{"a":1}}
JSON.stringify = () => '{"hacked":true}';
JSON.parse = () => ({ hacked: true });
await memory.set_content("own", { a: 1 }, { replace: true });
return { own: await memory.get_content("own") };
