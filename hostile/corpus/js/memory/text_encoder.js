// A text becomes bytes, by the host's own code.
// expect: memory_limit
// needs: wall
return new TextEncoder().encode("\u20ac".repeat(1e8)).length;
