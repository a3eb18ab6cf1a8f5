// A caller is named in the arguments, in every way that a host might look for.
// expect: invalid_argument
await memory.get_content("own", {}, { user: "ann", userId: "ann", caller: { user: "ann" } });
