// A regular expression with a pattern that only a parser of the language could trip over.
// expect: output or source_invalid
return /[/]\/(?<\u0061>[\]})]*)`${/.source.length;
