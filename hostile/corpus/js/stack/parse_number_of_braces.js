// As many braces, with names between them and an escaped quote in each to confuse who counts.
// expect: tool_error
return JSON.parse('{"a\\"[":'.repeat(1e5) + "1" + "}".repeat(1e5));
