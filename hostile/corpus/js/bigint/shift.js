// A shift by more bits than there is memory.
// expect: memory_limit
// needs: wall
return String((1n << (2n ** 33n)) > 0n);
