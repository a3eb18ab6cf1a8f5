// Lines for as long as there is time.
// expect: timeout
for (;;) console.error("again");
