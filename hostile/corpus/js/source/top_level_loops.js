// The loop is in the module, before there is anything to run.
// expect: timeout
for (;;);
export const main = () => 1;
