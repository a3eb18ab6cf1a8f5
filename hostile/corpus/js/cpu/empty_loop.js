// A loop that does nothing, for ever.
// expect: timeout
for (;;);
