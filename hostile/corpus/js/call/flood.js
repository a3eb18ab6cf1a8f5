// A call of memory in an endless loop.
// expect: call_limit
for (;;) await memory.get_content("own");
