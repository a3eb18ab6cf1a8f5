// A record that grows with each merge, until no record may be so large.
// expect: too_large or call_limit
for (let i = 0; ; i++) await memory.set_content("own", { ["part" + i]: "x".repeat(1e5) });
