// A tool writes the session's metadata, which is the host's.
// expect: not_found or read_only or access_denied
await memory.set_content("sessionMeta", { metadata: { admin: true } });
