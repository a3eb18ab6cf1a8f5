// An array of holes becomes a text of commas, in one built-in step.
// expect: timeout or memory_limit
// needs: wall
return (new Array(2 ** 32 - 1) + "").length;
