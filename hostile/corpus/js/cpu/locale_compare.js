// The collation of two long texts, in one built-in step.
// expect: timeout or memory_limit or tool_error
// needs: wall
const long = "\u1e9b\u0323".repeat(2e6);
for (;;) long.localeCompare(long + "a");
