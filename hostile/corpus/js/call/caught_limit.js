// What ends a run that calls too often cannot be caught.
// expect: call_limit
const often = async () => { for (;;) await memory.get_content("own"); };
try { await often(); } catch {} finally { return "caught"; }
