// The calls come from timers, and go on while the answer is written.
// expect: call_limit
setInterval(() => { for (let i = 0; i < 100; i++) memory.get_content("own"); }, 1);
await new Promise(() => {});
