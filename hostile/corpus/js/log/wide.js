// A list of fifty thousand objects, shown.
// expect: output 1
console.log(Array.from({ length: 5e4 }, (_, i) => ({ i })));
return 1;
