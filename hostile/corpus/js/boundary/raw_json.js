// A text that is put into the answer as it is.
// expect: output_invalid or tool_error
return { a: JSON.rawJSON("1e999999999") };
