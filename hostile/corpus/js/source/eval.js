// Code from a text: what bounds the nesting of a source would not see it.
// expect: tool_error
return eval("(".repeat(1e6) + "1" + ")".repeat(1e6));
