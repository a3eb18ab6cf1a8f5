// Calls nest through the search of a text.
// expect: stack_limit
const down = () => "a".replace(/a/, down);
return down();
