// The end of the stack runs a finally at every level, each of which calls on.
// expect: stack_limit or timeout
const down = () => { try { down(); } finally { down(); } };
return down();
