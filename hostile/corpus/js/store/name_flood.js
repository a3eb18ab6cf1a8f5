// The name of a store of ten million characters, which a message would repeat.
// expect: not_found or invalid_argument or too_large
await memory.get_content("x".repeat(1e7));
