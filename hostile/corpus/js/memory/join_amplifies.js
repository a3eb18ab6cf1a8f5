// A small text a hundred thousand times between itself.
// expect: memory_limit
// needs: wall
return new Array(1e5).fill("x".repeat(1e5)).join("-").length;
