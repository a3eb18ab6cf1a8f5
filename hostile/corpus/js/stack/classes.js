// A class that extends a class that extends a class: one new calls all their constructors.
// expect: stack_limit or memory_limit
// timeout: 20s
// needs: wall
let C = class {};
for (let i = 0; i < 1e6; i++) C = class extends C {};
return typeof new C();
