// A split that tries a lookahead at each of a million places, each reading to the end.
// expect: timeout
// needs: wall
return "a".repeat(1e6).split(/(?=.*b)/).length;
