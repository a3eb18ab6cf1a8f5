// A reviver adds what the walk will visit next.
// expect: timeout or stack_limit or memory_limit
JSON.parse("[0,0]", function (key, value) {
  if (key === "0") this[1] = [0, 0];
  return value;
});
