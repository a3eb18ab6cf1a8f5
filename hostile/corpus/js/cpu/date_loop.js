// Waits by asking the clock.
// expect: timeout
const until = Date.now() + 3600e3;
while (Date.now() < until);
