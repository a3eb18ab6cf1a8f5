// Timers that set two timers each.
// expect: timeout
const breed = () => { setTimeout(breed); setTimeout(breed); };
breed();
await new Promise(() => {});
