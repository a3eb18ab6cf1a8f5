// Asking for then throws.
// expect: tool_error
return { get then() { throw new Error("no then"); } };
