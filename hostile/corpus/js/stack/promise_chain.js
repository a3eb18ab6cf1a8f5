// A promise that is resolved with one that is resolved with one, ten thousand times.
// expect: output 1
let p = Promise.resolve(1);
for (let i = 0; i < 1e4; i++) { const q = p; p = new Promise((resolve) => resolve(q)); }
return await p;
