// A text with the last character there is, by its number.
// expect: output [2,2]
return ["\u{10ffff}".length, `\u{10FFFF}`.length];
