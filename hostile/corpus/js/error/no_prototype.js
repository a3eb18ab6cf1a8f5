// What is thrown has no methods at all.
// expect: tool_error
throw Object.create(null);
