// Names that look like the places of an array, at the edges of what is one.
// expect: output
await memory.set_content("own", { 0: "a", 4294967295: "b", "-0": "c", 1e21: "d" }, { replace: true });
const back = await memory.get_content("own");
if (back[0] !== "a" || back[4294967295] !== "b" || back["-0"] !== "c" || back["1e+21"] !== "d") throw new Error("a name was lost");
