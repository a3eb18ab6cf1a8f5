// A comparison empties the array that is being sorted. The language sorts a copy; goja fails at it.
// expect: output or tool_error
const a = Array.from({ length: 1000 }, (_, i) => 1000 - i);
a.sort((x, y) => { a.length = 0; return x - y; });
return a.length;
