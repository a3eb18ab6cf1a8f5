// A getter cuts off the array that it is a member of.
// expect: output [1,null,null]
const a = [1, 2, 3];
Object.defineProperty(a, 0, { get() { a.length = 1; return 1; }, enumerable: true });
return a;
