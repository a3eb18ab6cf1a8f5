// A getter adds another of its kind to the array, whenever it is read.
// expect: output_limit or output
const a = [];
const grow = () => Object.defineProperty(a, a.length, { get() { if (a.length < 1e6) grow(); return 1; }, enumerable: true });
grow();
return a;
