// A line ends at characters that few editors show, so that a comment is none.
// expect: output "code"
/**/ // this is a comment  return "code";
return "comment";
