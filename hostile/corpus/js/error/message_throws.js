// An error whose message throws an error whose message throws.
// expect: tool_error
const evil = () => ({ get message() { throw evil(); } });
throw evil();
