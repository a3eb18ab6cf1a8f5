// Every object that describes a property has a getter, and so is none.
// expect: output {"own":null}
Object.prototype.get = () => { for (;;); };
Object.prototype.value = 7;
Object.prototype.writable = false;
return { own: await memory.get_content("own") };
