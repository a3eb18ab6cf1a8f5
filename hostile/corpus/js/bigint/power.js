// A power that a machine has no room for.
// expect: memory_limit or timeout
// needs: wall
return String((3n ** (2n ** 27n)) % 7n);
