// A text is filled up to a length, by one of the least suspected functions.
// expect: memory_limit
// needs: wall
return "".padStart(2 ** 29, "ab").length;
