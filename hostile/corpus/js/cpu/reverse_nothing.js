// A built-in function swaps 2^52 pairs of members that are not there.
// expect: timeout
// needs: wall
return Array.prototype.reverse.call({ length: 2 ** 53 - 1 });
