// A class of the guest's extends the host's error.
// expect: tool_error
throw new (class extends MemoryAccessError { get code() { return "timeout"; } })("late", { code: "timeout" });
