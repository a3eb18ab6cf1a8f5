// An error whose message is never there.
// expect: timeout
throw { get message() { for (;;); } };
