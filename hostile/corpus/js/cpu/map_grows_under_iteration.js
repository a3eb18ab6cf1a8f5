// A Map that grows while it is walked, so that the walk never ends; what was walked is removed.
// expect: timeout
const map = new Map([[0, 0]]);
map.forEach((_, key) => { map.delete(key); map.set(key + 1, 0); });
