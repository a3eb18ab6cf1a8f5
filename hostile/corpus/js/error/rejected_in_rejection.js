// A handler of a rejection rejects, without end.
// expect: timeout
const again = () => Promise.reject(1).catch(again);
await again();
