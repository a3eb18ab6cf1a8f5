// Options that another database has.
// expect: invalid_argument
await memory.set_content("own", { a: 1 }, { upsert: true, $set: { marker: 2 } });
