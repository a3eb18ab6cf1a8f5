// A loop that gives up control at each turn, so that no single job is long.
// expect: timeout
while (true) await null;
