// An error of a million errors.
// expect: tool_error or timeout
throw new AggregateError(new Array(1e5).fill(new Error("one of many")), "many");
