// Each toJSON answers an object with a toJSON.
// expect: output_invalid
const feed = () => ({ next: { toJSON: feed } });
return { toJSON: feed };
