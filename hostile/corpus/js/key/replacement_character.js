// A name of half of a pair beside one of the character that would stand for it.
// expect: output_invalid
return { "\ud800": 1, "\ufffd": 2 };
