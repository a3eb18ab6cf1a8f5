// The list of an answer's keys does not come.
// expect: timeout
return new Proxy({}, { ownKeys() { for (;;); } });
