// Destructuring closes an iterator whose return does not return.
// expect: timeout
const iterator = { [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }), return() { for (;;); } }) };
const [one] = iterator;
