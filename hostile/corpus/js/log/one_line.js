// One line of ten million characters.
// expect: output 1
console.log("x".repeat(1e7));
return 1;
