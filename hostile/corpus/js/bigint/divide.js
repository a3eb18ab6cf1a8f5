// Long divisions of long numbers, in one built-in step each.
// expect: timeout or memory_limit
const a = (1n << 30000000n) - 1n, b = (1n << 15000000n) - 159n;
for (;;) a % b;
