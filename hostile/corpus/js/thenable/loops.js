// Asking for then does not return.
// expect: timeout
return { get then() { for (;;); } };
