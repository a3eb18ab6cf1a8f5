// A member for every object there is; the run after this must not have it.
// expect: output {"polluted":true}
Object.prototype.polluted = true;
Array.prototype.polluted = true;
Function.prototype.polluted = true;
return { polluted: {}.polluted };
