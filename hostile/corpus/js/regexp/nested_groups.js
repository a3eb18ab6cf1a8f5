// A pattern of nested groups, whose parser calls itself for each.
// expect: memory_limit or stack_limit
// needs: wall
return new RegExp("(?:".repeat(3e6) + ")".repeat(3e6)).test("");
