// Calls nest through JSON.stringify.
// expect: stack_limit
const o = { toJSON() { return JSON.stringify(o); } };
return JSON.stringify(o);
