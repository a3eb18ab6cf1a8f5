// A store that exists and was not granted must be as one that does not exist.
// expect: output true
const told = async (name) => { try { await memory.get_content(name); } catch (e) { return e.code + e.message.replaceAll(name, "X"); } };
return (await told("vault")) === (await told("vauly"));
