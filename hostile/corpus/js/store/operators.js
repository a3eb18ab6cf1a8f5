// Contents that another database would execute.
// expect: output {"$inc":{"marker":1},"$where":"for(;;);"}
await memory.set_content("own", { $inc: { marker: 1 }, $where: "for(;;);" }, { replace: true });
return await memory.get_content("own");
