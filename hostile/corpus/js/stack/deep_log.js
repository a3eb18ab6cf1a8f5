// A log line that shows a value nested a hundred thousand deep.
// expect: output 1
let a = [];
for (let i = 0; i < 1e5; i++) a = [a];
console.log(a);
return 1;
