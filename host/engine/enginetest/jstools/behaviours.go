package jstools

import (
	"testing/fstest"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

// behaviours contains the tools of the suite, written in JavaScript.
var behaviours = map[enginetest.Behaviour]string{
	enginetest.Sum:     `return { sum: input.a + input.b };`,
	enginetest.Echo:    `return input.value;`,
	enginetest.Nothing: `const sum = input.a + input.b;`,
	enginetest.Throw:   "const text = 'broken';\n\nthrow new Error(text);",
	enginetest.Print:   `console.log('one'); console.warn('two');`,
	enginetest.Count: `
		const n = ((await memory.get_content('counter'))?.n ?? 0) + 1;
		await memory.set_content('counter', { n });
		return n;`,
	enginetest.Remove: `return await memory.delete_content('counter');`,
	enginetest.Catch: `
		try {
			await memory.get_content('forbidden');
		} catch (error) {
			if (!(error instanceof MemoryAccessError && error instanceof Error)) throw error;
			const { code, store, violations } = error;
			return { code, store, violations };
		}`,
	enginetest.Uncaught: "const store = 'forbidden';\n\nreturn await memory.get_content(store);",
	enginetest.Fake: `
		try {
			await memory.get_content('forbidden');
		} catch (error) {
			const fake = new MemoryAccessError(error.message, { code: 'conflict', store: error.store });
			throw Object.assign(Object.create(error, Object.getOwnPropertyDescriptors(fake)), { id: '1' });
		}`,
	enginetest.Halt: `
		const on = () => { memory.get_content('after'); for (;;); };
		const held = { [Symbol.iterator]: () => ({ next: () => ({ done: false }), return: on }) };
		try {
			for (const _ of held) await memory.get_content('halt').then(on, on).finally(on);
		} catch {
			on();
		} finally {
			on();
		}`,
	enginetest.LogAndGo: `
		try {
			console.log('stop');
			await memory.get_content('after');
		} finally {
			await memory.get_content('after');
		}`,
	enginetest.Spin:        `for (;;);`,
	enginetest.Wait:        `return await memory.get_content('slow');`,
	enginetest.Forget:      `memory.get_content('forbidden'); return 'saved';`,
	enginetest.Never:       `await new Promise(() => {});`,
	enginetest.Context:     `context.added = { n: 1 }; context.changed = 2; return context.kept;`,
	enginetest.Steps:       `context.steps = {};`,
	enginetest.NotJSON:     `return { items: [1, 2n] };`,
	enginetest.BadArgument: `return await memory.set_content('prefs', { f() {} }).catch((error) => error.code);`,
	enginetest.Deep:        `let deep = []; for (let i = 1; i < 200; i++) deep = [deep]; return deep;`,
	enginetest.Large:       `return 'x'.repeat(100000);`,
	enginetest.Recurse:     `const f = () => f() + 1; return f();`,
	enginetest.Global: `
		globalThis.count = (globalThis.count ?? 0) + 1;
		Object.prototype.count = (Object.prototype.count ?? 0) + 1;
		Array.prototype.count = (Object.hasOwn(Array.prototype, 'count') ? Array.prototype.count : 0) + 1;
		return Math.max(globalThis.count, Object.prototype.count, Array.prototype.count);`,
	enginetest.Keep: `
		globalThis.kept = input.value;
		await memory.get_content('prefs');
		return globalThis.kept;`,
	enginetest.Keywords: `return await memory.get_content({ projection: { a: 1 }, store: 'prefs' });`,
	enginetest.Aliases:  `return await memory.set_content({ memory_store_name: 'prefs', content: { a: 1 } });`,
	enginetest.Unknown:  `return await memory.get_content({ store: 'prefs', nope: 1 }).catch((error) => error.code);`,
	enginetest.Added:    `return await memory.probe_content('prefs', { a: 1 });`,
	enginetest.Clock:    `return Date.now();`,
	enginetest.Random:   `return [Math.random(), Math.random(), crypto.randomUUID()];`,
	enginetest.Import:   "import { answer } from './answer.js';\nexport default () => answer;",
	enginetest.Broken:   "const a = 1;\n\nconst b = = 2;",
}

// Write returns the tool that implements a Behaviour. Write also returns the file that this tool
// imports. Write can be used as the field Write of an enginetest.Config. Write is safe for
// concurrent use.
func Write(b enginetest.Behaviour) (engine.Source, bool) {
	code, ok := behaviours[b]
	files := fstest.MapFS{
		"tool.js":   {Data: []byte(code)},
		"answer.js": {Data: []byte("export const answer = 42;")},
	}
	return engine.Source{Path: "tool.js", Code: []byte(code), Files: files}, ok
}
