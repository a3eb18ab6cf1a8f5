// The loop is in a generator, the consumer in the language itself.
// expect: timeout
function* endless() { for (;;) yield 1; }
for (const n of endless());
