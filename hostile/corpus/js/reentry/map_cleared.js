// A Map is emptied while it is walked, and filled again.
// expect: timeout or memory_limit
const map = new Map([[1, 1]]);
for (const [key] of map) { map.clear(); map.set(key + 1, 1); }
