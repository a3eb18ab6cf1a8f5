// One content of twenty megabytes.
// expect: too_large
await memory.set_content("own", { text: "x".repeat(2e7) });
