// What ends the loop runs a finally, which goes on in its place.
// expect: timeout
for (;;) {
  try { for (;;); } finally { continue; }
}
