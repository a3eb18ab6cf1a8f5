// A setter for the first member of every array.
// expect: output [1,2]
Object.defineProperty(Array.prototype, "0", { set() { for (;;); } });
await memory.get_content("own");
console.log("a", 1);
return [1, 2];
