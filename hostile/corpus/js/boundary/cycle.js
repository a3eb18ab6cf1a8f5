// An answer that contains itself.
// expect: output_invalid
const o = { list: [] };
o.list.push(o);
return o;
