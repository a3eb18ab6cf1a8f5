// The constructor of generators, which has no name, reached through one of the host's own functions.
// expect: tool_error
return Object.getPrototypeOf(function* () {}).constructor("yield " + "-".repeat(1e6) + "1");
