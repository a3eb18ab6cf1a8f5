// The caller of the tool is the host's own function.
// expect: output or tool_error
return [typeof arguments.callee?.caller, typeof (function () { return this; })(), typeof new Error().stack];
