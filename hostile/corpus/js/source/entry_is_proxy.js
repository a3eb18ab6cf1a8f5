// The function to run is a proxy that does not answer.
// expect: timeout
export default new Proxy(async () => 1, { apply() { for (;;); } });
