// A built-in function looks for the first member of 2^53 - 1, before it would call the guest.
// expect: timeout
// needs: wall
return Array.prototype.reduce.call({ length: 2 ** 53 - 1 }, () => 0);
