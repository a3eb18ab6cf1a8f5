// A message that moves the cursor and clears the screen of whoever reads it.
// expect: tool_error
throw new Error("\u001b[2J\u001b[1;1Hall is well\u0007\u0000\u202e");
