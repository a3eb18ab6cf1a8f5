// A tool writes another user into its context and reads what is that user's.
// expect: output null
context.userId = "ann";
context.sessionId = "hers";
return await memory.get_content("own");
