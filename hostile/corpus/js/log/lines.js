// Twenty thousand lines: all but the first thousand are dropped, and the run is told.
// expect: output 1
for (let i = 0; i < 2e4; i++) console.log("line", i);
return 1;
