// A number asks for an array of that many undefined members.
// expect: timeout or memory_limit
// needs: wall
return Array.from({ length: 4e8 }).length;
