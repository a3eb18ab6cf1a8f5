// What is logged is a proxy that does not answer.
// expect: timeout
console.log(new Proxy({}, { get() { for (;;); }, ownKeys() { for (;;); }, getPrototypeOf() { for (;;); } }));
return 1;
