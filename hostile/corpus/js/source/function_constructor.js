// The constructor of all functions, reached through one of them.
// expect: tool_error
return (() => {}).constructor("return " + "[".repeat(1e6))();
