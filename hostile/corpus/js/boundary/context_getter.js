// The context that the host reads back has a getter that does not return.
// expect: timeout
Object.defineProperty(context, "x", { enumerable: true, get() { for (;;); } });
return 1;
