// A member of the answer is a getter that does not return: the host's own code waits in it.
// expect: timeout
return { get a() { for (;;); } };
