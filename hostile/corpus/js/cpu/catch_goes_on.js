// What ends the loop is caught, and the loop begins again.
// expect: timeout
for (;;) {
  try { for (;;); } catch { continue; }
}
