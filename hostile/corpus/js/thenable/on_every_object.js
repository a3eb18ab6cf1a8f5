// Every object has a method then: what memory answers is a promise to whoever awaits it.
// expect: output {"seen":"stolen"}
Object.prototype.then = function (resolve) { delete Object.prototype.then; resolve("stolen"); };
const seen = await memory.get_content("shared");
return { seen };
