// A conversion inside a built-in function is the guest's code.
// expect: timeout
return "x".repeat({ [Symbol.toPrimitive]() { for (;;); } });
