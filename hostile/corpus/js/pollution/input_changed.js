// The input that the host gave is changed; another attempt must not see it.
// expect: output {"n":1,"same":false}
// input: {"n":1,"deep":{"list":[1,2,3]}}
const first = input.n;
input.n = 2;
input.deep.list.length = 0;
return { n: first, same: input.n === first };
