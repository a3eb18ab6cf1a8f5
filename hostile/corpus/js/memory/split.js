// A text becomes an array of its characters.
// expect: memory_limit
// needs: wall
for (let n = 24; ; n++) "ab".repeat(2 ** n).split("");
