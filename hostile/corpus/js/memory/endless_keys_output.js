// An answer whose keys are made up when they are asked for, a hundred thousand long ones.
// expect: output_limit or timeout
const keys = Array.from({ length: 1e5 }, (_, i) => "a key that is rather long, number " + i);
return new Proxy({}, {
  ownKeys: () => keys,
  getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
  get: (_, key) => (key === "toJSON" ? undefined : 1),
});
