// A copy of what is nested a hundred thousand deep.
// expect: stack_limit or tool_error
let a = [];
for (let i = 0; i < 1e5; i++) a = [a];
structuredClone(a);
