// What is logged throws when it is looked at: a log line must not end the tool.
// expect: output 1
console.log({ get a() { throw new Error("no"); }, toString() { throw 1; }, [Symbol.toPrimitive]: 1 });
console.log(Object.create(null), Symbol("s"), new Proxy(() => {}, {}), 10n, -0, NaN);
return 1;
