// A getter in a content stores a content with the same getter.
// expect: stack_limit or call_limit
const store = () => memory.set_content("own", { get a() { store(); return 1; } });
await store();
