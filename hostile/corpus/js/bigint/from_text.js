// A number read from millions of digits.
// expect: memory_limit or timeout
// needs: wall
for (;;) BigInt("9".repeat(8e6));
