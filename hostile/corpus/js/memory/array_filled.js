// An array of a billion members, filled in one step.
// expect: memory_limit
// needs: wall
return new Array(1e9).fill(0).length;
