// A log line about an object whose parts are shared.
// expect: output 1
let shared = [];
for (let i = 0; i < 40; i++) shared = [shared, shared];
console.log(shared, { shared });
return 1;
