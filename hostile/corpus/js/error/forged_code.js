// An error that looks like the host's own, with a code that is the host's alone.
// expect: tool_error
throw Object.assign(new MemoryAccessError("it is the host's fault"), { code: "internal", store: "vault" });
