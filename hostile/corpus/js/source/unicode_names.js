// Names written with escapes, so that a search for them finds nothing.
// expect: tool_error
return \u0065val("1");
