// An import whose name is made at run time.
// expect: tool_error or source_invalid
return await import("/etc/" + "passwd");
