// Calls nest through JSON.parse.
// expect: stack_limit
const down = () => JSON.parse("1", down);
return down();
