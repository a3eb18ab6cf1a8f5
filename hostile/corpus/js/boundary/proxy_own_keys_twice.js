// The list of an answer's keys names one twice, which a proxy must not.
// expect: tool_error
return new Proxy({}, { ownKeys: () => ["a", "a"] });
