// An object that was stored is changed afterwards.
// expect: output {"list":[1]}
const content = { list: [1] };
await memory.set_content("own", content, { replace: true });
content.list.push(2);
content.more = true;
return await memory.get_content("own");
