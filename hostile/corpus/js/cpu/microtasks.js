// Jobs of promises that queue the next one: the event loop never gets a turn.
// expect: timeout
const again = () => Promise.resolve().then(again);
await again();
