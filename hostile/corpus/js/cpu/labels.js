// Loops within loops, left and entered by their labels.
// expect: timeout
outer: for (;;) {
  inner: for (;;) continue outer;
}
