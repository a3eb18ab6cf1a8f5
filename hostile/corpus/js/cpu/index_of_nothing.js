// A built-in function walks an object of 2^53 - 1 members, of which there is none. It runs no guest code, where an interrupt is seen.
// expect: timeout
// needs: wall
return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);
