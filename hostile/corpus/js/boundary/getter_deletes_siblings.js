// A getter deletes the members that the host is about to read.
// expect: output {"a":1}
const o = { get a() { delete o.b; return 1; }, b: 2 };
return o;
