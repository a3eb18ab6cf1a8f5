// A method then that answers twice, and throws.
// expect: output 1
return { then(resolve) { resolve(1); resolve(2); throw new Error("late"); } };
