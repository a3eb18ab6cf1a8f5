// A method then that calls nobody.
// expect: tool_error
return { then() {} };
