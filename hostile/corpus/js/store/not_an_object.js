// A content that is no object: a merge into it has no meaning.
// expect: invalid_argument or schema_violation
await memory.set_content("own", "just a text");
