// A text of a million brackets, read by a parser that calls itself for each.
// expect: tool_error
return JSON.parse("[".repeat(1e6) + "]".repeat(1e6));
