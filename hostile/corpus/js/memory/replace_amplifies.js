// Each of a hundred thousand characters is replaced by a hundred thousand.
// expect: memory_limit
// needs: wall
return "a".repeat(1e5).replaceAll("a", "b".repeat(1e5)).length;
