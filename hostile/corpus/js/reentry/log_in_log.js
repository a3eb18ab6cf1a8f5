// What is logged logs when it is looked at.
// expect: output 1 or stack_limit
const o = { get a() { console.log(o); return 1; } };
console.log(o);
return 1;
