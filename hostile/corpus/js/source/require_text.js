// A module whose name is made at run time.
// expect: tool_error or source_invalid
const name = ["f", "s"].join("");
return require(name).readFileSync("/etc/passwd", "utf8");
