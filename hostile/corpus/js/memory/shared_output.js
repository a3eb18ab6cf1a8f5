// An answer that is small because its parts are shared, and 2^40 parts when it is written.
// expect: output_limit
let shared = [];
for (let i = 0; i < 40; i++) shared = [shared, shared];
return shared;
