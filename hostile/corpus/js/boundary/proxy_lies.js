// A proxy has another value for each question.
// expect: output {"a":2}
let asked = 0;
return new Proxy({ a: 0 }, { get: (_, key) => (key === "a" ? (asked += 2) : undefined) });
