// A content that was read is changed in place, and never written.
// expect: output {"marker":1}
const content = await memory.get_content("shared");
content.marker = "changed in place";
delete content.list;
return await memory.get_content("shared");
