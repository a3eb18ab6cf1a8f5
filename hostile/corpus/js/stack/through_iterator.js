// Iterators nest: each is spread by the one before.
// expect: stack_limit
const o = { *[Symbol.iterator]() { yield* [...o]; } };
return [...o];
