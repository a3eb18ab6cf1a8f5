// A content with a member __proto__ goes into memory and comes back as a member.
// expect: output {"admin":false,"keys":["__proto__"]}
await memory.set_content("own", JSON.parse('{"__proto__":{"admin":true}}'), { replace: true });
const back = await memory.get_content("own");
return { admin: back.admin === true || {}.admin === true, keys: Object.getOwnPropertyNames(back) };
