// An array made of an iterator that does not end.
// expect: memory_limit
// needs: wall
return [...{ *[Symbol.iterator]() { for (;;) yield {}; } }];
