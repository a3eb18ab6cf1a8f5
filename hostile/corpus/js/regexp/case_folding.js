// Classes of all letters, each folded in every way, a thousand times.
// expect: timeout or tool_error or memory_limit or output
return new RegExp("[\\w\\W\\s\\S\\u0000-\\uffff]".repeat(2e4), "iu").test("");
