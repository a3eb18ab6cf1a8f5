// A comment that ends a script, where one is printed into a page.
// expect: source_invalid
const a = 1; <!-- return "hidden"
return a;
