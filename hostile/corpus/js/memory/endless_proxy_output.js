// An answer that is a proxy of an array which says it has 2^53 - 1 members.
// expect: output_limit
return new Proxy([], { get: (_, key) => (key === "length" ? 2 ** 53 - 1 : key === "toJSON" ? undefined : 0) });
