// Calls nest through a built-in function, on the stack of the process rather than the guest's.
// expect: stack_limit
const down = () => [1, 2].sort(down);
return down();
