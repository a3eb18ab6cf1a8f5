// A Map, which becomes {} if nobody looks.
// expect: output_invalid
return new Map([["a", 1]]);
