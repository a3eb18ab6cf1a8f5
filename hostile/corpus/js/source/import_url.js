// A module from elsewhere.
// expect: source_invalid
import x from "https://example.com/x.js";
return x;
