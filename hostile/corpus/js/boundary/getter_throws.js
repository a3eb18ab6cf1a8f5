// A member of the answer is a getter that throws.
// expect: tool_error
return { get a() { throw new Error("not yours"); } };
