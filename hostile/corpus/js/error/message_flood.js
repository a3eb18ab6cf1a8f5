// A message of ten million characters.
// expect: tool_error
throw new Error("x".repeat(1e7));
