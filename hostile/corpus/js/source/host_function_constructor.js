// The constructor of a function that the host made, which may be another one.
// expect: tool_error
return console.log.constructor("return globalThis")() || memory.get_content.constructor("return 1")();
