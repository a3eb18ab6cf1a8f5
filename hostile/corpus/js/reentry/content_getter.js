// A getter in a content calls memory while the host writes the content down.
// expect: output {"a":1}
await memory.set_content("own", { get a() { memory.delete_content("own").catch(() => {}); return 1; } }, { replace: true });
return await memory.get_content("own");
