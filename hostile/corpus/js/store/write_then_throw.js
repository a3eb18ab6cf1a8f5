// A write before an error: the run failed, so it never was.
// expect: tool_error
await memory.set_content("shared", { marker: "written by a run that failed" });
throw new Error("after the write");
