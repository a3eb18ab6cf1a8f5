// A toJSON for every object and array there is.
// expect: output {"list":[1],"kept":true}
Object.prototype.toJSON = () => "stolen";
Array.prototype.toJSON = () => "stolen";
return { list: [1], kept: true };
