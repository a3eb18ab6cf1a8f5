// A call with a hundred million arguments.
// expect: memory_limit
// needs: wall
return Math.max.apply(null, { length: 1e8 });
