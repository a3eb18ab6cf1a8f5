// The digits of a large number, whose conversion takes time with the square of them.
// expect: timeout or memory_limit
// needs: wall
for (let bits = 24n; ; bits++) ((1n << (1n << bits)) - 1n).toString(7);
