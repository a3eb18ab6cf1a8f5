// A format whose one word asks for a hundred megabytes.
// expect: output 1
console.log("%s %o %O %d %j %100000000d %c", { a: 1 }, [2]);
return 1;
