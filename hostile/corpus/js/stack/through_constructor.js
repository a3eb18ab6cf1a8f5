// Constructors nest through Reflect.construct.
// expect: stack_limit
function Down() { return Reflect.construct(Down, []); }
return new Down();
