// A projection that is a proxy, and has other paths for each question.
// expect: output or invalid_argument
let n = 0;
return await memory.get_content("shared", new Proxy({}, { ownKeys: () => ["p" + n++], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) }));
