// A text that grows twelvefold when it is escaped.
// expect: memory_limit
// needs: wall
return encodeURIComponent(String.fromCodePoint(0x10ffff).repeat(2e7)).length;
