// The place where a search begins is an object of the guest's.
// expect: timeout
const search = /a/g;
search.lastIndex = { valueOf() { for (;;); } };
return search.exec("a");
