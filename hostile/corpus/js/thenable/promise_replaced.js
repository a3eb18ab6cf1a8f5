// The class of promises is another, and its methods throw.
// expect: output null
Promise.prototype.then = () => { throw new Error("no then"); };
Promise.resolve = () => { throw new Error("no resolve"); };
globalThis.Promise = class { constructor() { throw new Error("no promise"); } };
return await memory.get_content("own");
