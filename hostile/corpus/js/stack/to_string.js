// A conversion to text that converts itself.
// expect: stack_limit
const o = { toString() { return "" + o; } };
return "" + o;
