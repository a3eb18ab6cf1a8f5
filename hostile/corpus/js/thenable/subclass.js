// The answer is a promise of a subclass, whose then does not return.
// expect: timeout or output 1
class Slow extends Promise { then() { for (;;); } }
return new Slow((resolve) => resolve(1));
