// A text becomes base64 by the host's own code, again and again.
// expect: memory_limit
// needs: wall
let s = "x".repeat(1e6);
for (;;) s = btoa(s);
