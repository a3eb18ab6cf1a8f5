// A write while the answer is written down, and then an answer that is none.
// expect: output_invalid
return { get a() { memory.set_content("shared", { marker: "too late" }); return 1n; } };
