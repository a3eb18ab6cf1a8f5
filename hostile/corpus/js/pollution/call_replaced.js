// Calling a function calls the guest.
// expect: output 1
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { for (;;); };
Reflect.apply = () => { for (;;); };
console.log("a", [1], { b: 2 });
await memory.get_content("own");
return 1;
