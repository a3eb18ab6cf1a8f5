// Repetitions of repetitions, which a compiler that unrolls them makes 10^9 instructions of.
// expect: source_invalid or tool_error or timeout or memory_limit or output
return /^(?:(?:a{1000}){1000}){1000}$/.test("a");
