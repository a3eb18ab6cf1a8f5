// The same in an answer, behind a rope of texts that was never flat.
// expect: output_invalid
let s = "a";
s += "\ud83d";
s += "b";
return { s };
