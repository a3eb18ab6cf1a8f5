// An async function that awaits itself.
// expect: stack_limit
const down = async () => { await down(); };
await down();
