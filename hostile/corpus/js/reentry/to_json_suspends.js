// A toJSON in a content is a generator that is resumed from within itself.
// expect: tool_error
const g = (function* () { g.next(); })();
await memory.set_content("own", { toJSON: () => g.next() });
