// A getter that reads itself.
// expect: stack_limit
const o = { get a() { return this.a; } };
return o.a;
