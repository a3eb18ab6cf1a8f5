// One character that a normal form makes eighteen of.
// expect: memory_limit
// needs: wall
return "\ufdfa".repeat(2e7).normalize("NFKD").length;
