// What asks for an object's prototype runs a trap.
// expect: output {} or timeout
return new Proxy({}, { getPrototypeOf() { for (;;); } });
