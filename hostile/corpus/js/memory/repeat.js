// One call that makes a text of half a gigabyte.
// expect: memory_limit
// needs: wall
return "x".repeat(2 ** 29).length;
