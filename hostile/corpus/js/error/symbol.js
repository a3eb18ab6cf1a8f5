// What is thrown is a symbol, which no text can be made of.
// expect: tool_error
throw Symbol("thrown");
