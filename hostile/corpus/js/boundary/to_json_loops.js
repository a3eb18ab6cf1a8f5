// An answer that says how it is written, and never does.
// expect: timeout
return { toJSON() { for (;;); } };
