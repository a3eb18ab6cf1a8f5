// An answer with a method then, which answers another of its kind.
// expect: timeout
const link = () => ({ then(resolve) { resolve(link()); } });
return link();
