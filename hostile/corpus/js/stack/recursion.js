// A function that calls itself.
// expect: stack_limit
const down = () => 1 + down();
return down();
