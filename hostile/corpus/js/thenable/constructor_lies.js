// A promise whose constructor makes what the guest wants.
// expect: output or tool_error
const p = memory.get_content("own");
p.constructor = { [Symbol.species]: class { constructor(executor) { executor(() => {}, () => {}); } } };
p.then(() => {});
return await p;
