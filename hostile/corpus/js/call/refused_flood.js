// Calls that are refused count too, even where each refusal is caught.
// expect: call_limit
for (;;) try { await memory.get_content("vault"); } catch {}
