// What is thrown is nothing.
// expect: tool_error
throw undefined;
