// A projection by the names that lead to a prototype.
// expect: output or invalid_argument
return await memory.get_content("shared", JSON.parse('{"__proto__":1,"constructor.prototype":1,"":1}'));
