// The end of the stack is caught at every level, and every level tries again.
// expect: stack_limit or timeout
const down = () => { try { down(); } catch { down(); } };
return down();
