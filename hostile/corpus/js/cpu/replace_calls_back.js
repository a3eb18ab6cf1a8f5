// A built-in search calls the guest for each of 10^5 matches, and each call is short.
// expect: timeout
const spin = () => { for (let i = 0; i < 1e5; i++); return ""; };
return "a".repeat(1e5).replace(/a/g, spin);
