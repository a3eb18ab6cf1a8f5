// A thousand and more calls that nobody waits for.
// expect: call_limit
for (;;) memory.get_content("own");
