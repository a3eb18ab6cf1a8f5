// A timer due long after the deadline.
// expect: timeout
await new Promise((resolve) => setTimeout(resolve, 2 ** 31 - 1));
