// A write before a loop that is stopped.
// expect: timeout
await memory.set_content("shared", { marker: "written by a run that was stopped" });
for (;;);
