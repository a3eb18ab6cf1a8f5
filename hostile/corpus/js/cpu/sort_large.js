// A built-in sort of a million texts, none of which is the guest's code.
// expect: timeout or memory_limit
const many = new Array(1e6);
for (let i = 0; i < 1e6; i++) many[i] = "same beginning ".repeat(20) + ((i * 7919) % 1e6);
for (;;) many.sort().reverse();
