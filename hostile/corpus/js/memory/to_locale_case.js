// Letters that grow when they change their case.
// expect: memory_limit
// needs: wall
return "\u0390".repeat(5e7).toUpperCase().length;
