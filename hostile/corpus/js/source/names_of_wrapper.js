// The names that a wrapper around the tool may have.
// expect: output or source_invalid
__entry = () => "hijacked"; __input = __context = null;
return "mine";
