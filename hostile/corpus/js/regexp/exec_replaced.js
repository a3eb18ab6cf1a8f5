// A search whose exec is the guest's, which always finds something.
// expect: timeout or memory_limit
const search = /a/g;
search.exec = () => ({ 0: "", index: 0, length: 1 });
return "a".replace(search, "b");
