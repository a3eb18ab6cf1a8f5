// Tests the test double. double_test.go sets the environment variable TOOLRUN to the path of the
// program.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Memory, MemoryAccessError, ToolrunError } from '../double.mjs';

const visits = { access: 'user', strict: true, schema: { type: 'object', properties: { count: { type: 'integer' }, page: { type: 'string' } } } };

/** A tool function as exported by a module. */
async function visit(input) {
  const known = (await memory.get_content('visits')) ?? { count: 0 };
  if (input.page === undefined) throw new Error('which page?');
  await memory.set_content('visits', { count: known.count + 1, page: input.page });
  return { count: known.count + 1, tier: env.TIER };
}

test('the writes of a run are stored', async () => {
  const memory = await Memory.open({ stores: { visits }, user: 'ann', grants: { visits: 'readwrite' } });
  await memory.put('visits', { count: 1 });
  const result = await memory.run(visit, { page: '/' }, { env: { TIER: 'gold' } });
  assert.deepEqual([result.ok, result.output], [true, { count: 2, tier: 'gold' }]);
  assert.deepEqual(result.effects.writes, [{ store: 'visits', revision: 2, op: 'set' }]);
  assert.deepEqual(memory.effects, result.effects);
  assert.deepEqual(await memory.content('visits'), { count: 2, page: '/' });
  assert.equal((await memory.record('visits')).revision, 2);
  assert.equal(globalThis.memory, undefined);
});

test('a run that fails stores nothing', async () => {
  const memory = await Memory.open({ stores: { visits } });
  const result = await memory.run(async () => {
    await globalThis.memory.set_content('visits', { count: 7 });
    throw new RangeError('no');
  });
  assert.deepEqual(result.error, { code: 'tool_error', message: 'RangeError: no' });
  assert.ok(result.exception instanceof RangeError);
  assert.equal(await memory.content('visits'), null);
});

test('a fault has the code and the message of toolrun', async () => {
  const memory = await Memory.open({ stores: { visits }, grants: { visits: 'read' } });
  await assert.rejects(memory.set_content('visits', {}), (error) => {
    assert.ok(error instanceof MemoryAccessError);
    assert.deepEqual([error.code, error.op, error.store], ['access_denied', 'set_content', 'visits']);
    assert.equal(error.hint, "add the verb write to the tool's grants");
    return true;
  });
  await assert.rejects(memory.get_content('visit'), { code: 'not_found', hint: 'did you mean "visits"?' });
  const strict = await Memory.open({ stores: { visits } });
  await assert.rejects(strict.set_content({ store: 'visits', value: { count: 'x' } }), (error) => {
    assert.deepEqual(error.violations, [{ pointer: '/count', keyword: 'type', limit: 'integer' }]);
    return error.code === 'schema_violation';
  });
  await assert.rejects(strict.get_content({ sotre: 'visits' }), { code: 'invalid_argument' });
});

test('an uncaught fault keeps its code, and an error that a tool created does not', async () => {
  const memory = await Memory.open({ stores: { visits } });
  const through = await memory.run(() => globalThis.memory.set_content('visits', { count: 'x' }));
  assert.deepEqual([through.error.code, through.error.violations[0].pointer], ['schema_violation', '/count']);
  const made = await memory.run(() => {
    throw new globalThis.MemoryAccessError('made up', { code: 'conflict' });
  });
  assert.deepEqual(made.error, { code: 'tool_error', message: 'MemoryAccessError: made up' });
  const caught = await memory.run(() => globalThis.memory.get_content('other').catch((error) => error.code));
  assert.equal(caught.output, 'not_found');
});

test('a refused store fails', async () => {
  const memory = await Memory.open({ stores: { visits } });
  await memory.refuse('visits', 'unavailable', 'gone', { hint: 'wait' });
  const result = await memory.run(visit, { page: '/' });
  assert.deepEqual([result.error.code, result.error.message, result.error.hint], ['unavailable', 'gone', 'wait']);
  await assert.rejects(memory.get_content('visits'), { code: 'unavailable', op: 'get_content' });
  await memory.refuse('visits', null);
  assert.equal(await memory.get_content('visits'), null);
  await assert.rejects(memory.refuse('visits', 'broken'), { code: 'invalid_argument' });
});

test('schemas apply to input and output', async () => {
  const memory = await Memory.open({ stores: {} });
  const inputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const refused = await memory.run(() => assert.fail('the tool ran'), {}, { inputSchema });
  assert.deepEqual([refused.ok, refused.error.code, refused.error.violations[0].pointer], [false, 'input_invalid', '/n']);
  const wrong = await memory.run((input) => input.n, { n: 1 }, { inputSchema, outputSchema: { type: 'string' } });
  assert.equal(wrong.error.code, 'output_invalid');
});

test('the context goes in and its changes come out', async () => {
  const memory = await Memory.open({ stores: {}, user: 'ann', session: null });
  const result = await memory.run((_, context) => {
    context.seen = context.given + 1;
    return [context.userId, context.sessionId];
  }, {}, { context: { given: 1 } });
  assert.deepEqual([result.output, result.context], [['ann', null], { seen: 2 }]);
  const workflow = await memory.run((_, context) => { context.steps.a = 1; });
  assert.equal(workflow.error.code, 'output_invalid');
});

test('callers share what is stored', async () => {
  const ann = await Memory.open({ stores: { mine: { access: 'user' }, ours: { access: 'application' } }, user: 'ann', session: 'a' });
  const bob = await ann.caller({ user: 'bob', session: 'b' });
  await ann.put('mine', { by: 'ann' });
  await ann.put('ours', { by: 'ann' });
  assert.deepEqual([await bob.get_content('mine'), await bob.get_content('ours')], [null, { by: 'ann' }]);
  const records = await ann.dump();
  assert.deepEqual(records.map(({ store, user }) => [store, user]), [['mine', 'ann'], ['ours', undefined]]);
  await ann.reset();
  assert.deepEqual(await ann.dump(), []);
  await ann.seed(records);
  assert.deepEqual(await ann.content('mine'), { by: 'ann' });
});

test('concurrent runs conflict if one read a record that the other changed', async () => {
  const ann = await Memory.open({ stores: { hits: { access: 'application' } }, user: 'ann' });
  const bob = await ann.caller({ user: 'bob', session: 'b' });
  const result = await ann.run(async () => {
    await globalThis.memory.get_content('hits');
    await bob.set_content('hits', { n: 1 });
    await globalThis.memory.set_content('hits', { n: 2 });
  });
  assert.equal(result.error.code, 'conflict');
  assert.deepEqual(await ann.content('hits'), { n: 1 });
});

test('the clock advances', async () => {
  const memory = await Memory.open({ stores: { prefs: { access: 'user', retention: '1h' } }, now: new Date('2030-01-01T10:00:00Z') });
  await memory.put('prefs', { a: 1 });
  assert.equal((await memory.record('prefs')).expires_at, '2030-01-01T11:00:00.000000Z');
  await memory.advance('59m');
  assert.deepEqual(await memory.get_content('prefs'), { a: 1 });
  await memory.advance(60_000);
  assert.equal(await memory.get_content('prefs'), null);
});

test('ids are the same after the same seed', async () => {
  const ids = [];
  for (let i = 0; i < 2; i++) {
    const memory = await Memory.open({ stores: {}, now: '2030-01-01T00:00:00Z' });
    await memory.setRandom(1);
    ids.push((await memory.run((_, context) => context.runId)).output);
  }
  assert.match(ids[0], /^run_/);
  assert.equal(ids[0], ids[1]);
});

test('sessions', async () => {
  const memory = await Memory.open({ stores: { cart: { access: 'session' } }, metadata: { tier: 'gold' } });
  await memory.setReferences({ session: 'call-1', user: 'crm-7' });
  const meta = await memory.get_content('sessionMeta');
  assert.deepEqual([meta.metadata, meta.sessionInfo.sessionReference], [{ tier: 'gold' }, 'call-1']);
  await memory.put('cart', { n: 1 });
  await memory.endSession();
  await assert.rejects(memory.get_content('cart'), { code: 'session_ended' });
});

test('values that are not JSON are refused', async () => {
  const memory = await Memory.open({ stores: { prefs: { access: 'user' } } });
  const itself = {};
  itself.self = itself;
  const values = [[NaN, 'is NaN'], [-Infinity, 'is infinite'], [() => 1, 'is a function'], [Symbol('s'), 'is a symbol'], [1n, 'is a BigInt'],
    [new Map(), 'is a Map'], [new Set(), 'is a Set'], ['\ud83d', 'contains an unpaired surrogate'], [itself, 'contains itself'], [new Date(NaN), 'is an invalid Date']];
  for (const [value, what] of values) {
    await assert.rejects(memory.set_content('prefs', { list: [value] }), (error) => {
      assert.match(error.message, new RegExp(`^set_content: value\\.list\\[0\\].*${what}`));
      return error.code === 'invalid_argument';
    });
  }
  await memory.set_content('prefs', { at: new Date('2030-01-01T00:00:00Z'), gone: undefined, list: [undefined] });
  assert.deepEqual(await memory.content('prefs'), { at: '2030-01-01T00:00:00.000Z', list: [null] });
});

test('a filter or a selector with an undefined member is refused', async () => {
  const memory = await Memory.open({ stores: { kb: { kind: 'collection', access: 'application' } } });
  await memory.remember('kb', 'green tea', { id: '1', namespace: 's1', metadata: { team: 'a', owner: undefined } });
  for (const filter of [{ team: undefined }, { team: 'a', owner: undefined }, { team: { in: [undefined] } }, { year: { gte: 1, lte: undefined } }]) {
    await assert.rejects(memory.recall('kb', 'tea', { filter, namespace: 's1' }), { code: 'invalid_argument' });
  }
  for (const selector of [{ id: undefined }, { filter: undefined }, { filter: { team: undefined } }, { all: undefined }]) {
    await assert.rejects(memory.forget('kb', { ...selector, namespace: 's1' }), { code: 'invalid_argument' });
  }
  assert.equal((await memory.recall('kb', 'tea', { filter: undefined, limit: undefined, namespace: 's1' })).count, 1);
});

test('an invalid declaration is rejected', async () => {
  await assert.rejects(Memory.open({ stores: { prefs: { access: 'everybody' } } }), { code: 'source_invalid', message: 'the value "everybody" is not valid for the key `access`' });
  await assert.rejects(Memory.open({ stores: { prefs: { access: 'user' } }, grants: { perfs: 'read' } }), { hint: 'did you mean "prefs"?' });
  await assert.rejects(Memory.open({}), TypeError);
  assert.throws(() => new Memory(), TypeError);
});

test('an app file declares stores and tools', async () => {
  const memory = await Memory.open({ file: process.env.APP, tool: 'order', user: 'ann' });
  await memory.set_content('orders', { item: 'tea' });
  await assert.rejects(memory.get_content('orders'), { code: 'access_denied' });
  const refused = await memory.run(() => ({}), { item: 5 });
  assert.equal(refused.error.code, 'input_invalid');
  await assert.rejects(Memory.open({ file: 'nowhere.yaml' }), { code: 'invalid_argument' });
});

/** Runs a program in a separate Node process. */
function node(source, env) {
  const program = `import { Memory } from ${JSON.stringify(new URL('../double.mjs', import.meta.url).href)};\n${source}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', timeout: 60_000, env: { ...process.env, ...env } });
}

test('Node ends although a memory is open', () => {
  const { status, signal, stderr } = node('await (await Memory.open({ stores: {} })).run(() => 1);');
  assert.deepEqual([status, signal, stderr], [0, null, '']);
});

test('an error without toolrun explains the fix', () => {
  for (const [env, message] of [[{ TOOLRUN: '', PATH: '/nowhere' }, /not on PATH.*set the variable TOOLRUN/], [{ TOOLRUN: '/nowhere/toolrun' }, /TOOLRUN is "\/nowhere\/toolrun"/]]) {
    const { stdout } = node('await Memory.open({ stores: {} }).catch((error) => console.log(error.name, error.message));', env);
    assert.match(stdout, /^ToolrunError /);
    assert.match(stdout, message);
  }
  assert.ok(ToolrunError.prototype instanceof Error);
});

test('the end of the program is an error', () => {
  const { status, stdout } = node('await Memory.open({ stores: {} }).catch((error) => console.log(error.message));', { TOOLRUN: process.execPath });
  assert.deepEqual([status, stdout.trim()], [0, 'toolrun double ended with exit code 1; see the messages on standard error']);
});

test('concurrent requests are answered in order', async () => {
  const memory = await Memory.open({ stores: { hits: { access: 'application' } } });
  const result = await memory.run(async () => {
    const calls = [];
    for (let i = 0; i < 100; i++) calls.push(globalThis.memory.set_content('hits', { n: i }), globalThis.memory.get_content('hits'));
    return (await Promise.all(calls)).filter((_, i) => i % 2).map(({ n }) => n);
  });
  assert.deepEqual(result.output, Array.from({ length: 100 }, (_, i) => i));
});

test('callers may have many grants', async () => {
  const stores = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`s${n}`, { access: 'user' }]));
  const memory = await Memory.open({ stores });
  const grants = (i) => Object.fromEntries(Object.keys(stores).filter((_, n) => i & (1 << n)).map((name) => [name, 'read']));
  const callers = [];
  for (let i = 0; i < 100; i++) callers.push(await memory.caller({ grants: grants(i) }));
  for (const i of [0, 99, 1, 98]) {
    for (const name of Object.keys(stores)) {
      const readable = await callers[i].get_content(name).then(() => true, (error) => (assert.equal(error.code, 'not_found'), false));
      assert.equal(readable, name in grants(i));
    }
  }
});

test('unreferenced memories are closed', () => {
  const source = `for (let i = 0; i < 1500; i++) {
    await Memory.open({ stores: {} });
    if (i % 100 === 99) { globalThis.gc(); await new Promise(setImmediate); }
  }
  console.log('done');`;
  const { stdout, stderr } = node(source, { NODE_OPTIONS: '--expose-gc' });
  assert.equal(stdout, 'done\n', stderr);
});

test('the example of README.md runs', async (t) => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [tool, tests] = [...readme.matchAll(/```js\n(\/\/ [\w.]+\n[^]*?)```/g)].map(([, code]) => code);
  const dir = await mkdtemp(join(tmpdir(), 'toolrun-readme'));
  t.after(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, 'node_modules', '@toolrun'), { recursive: true });
  await symlink(join(import.meta.dirname, '..'), join(dir, 'node_modules', '@toolrun', 'sdk'));
  for (const code of [tool, tests]) await writeFile(join(dir, /^\/\/ ([\w.]+)/.exec(code)[1]), code);
  const { NODE_TEST_CONTEXT, ...env } = process.env; // of this test
  const { status, stdout } = spawnSync(process.execPath, ['--test', dir], { cwd: dir, encoding: 'utf8', env });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /pass 2/);
});

test('blocks of the user and of the active agent', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'blocks-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'app.yaml'), 'app: crm\nblocks: true\n');
  const memory = await Memory.open({ file: join(folder, 'app.yaml'), user: 'ann' });
  const first = await memory.update_block('core', '- Prefers tea');
  await assert.rejects(memory.update_block('core', '- lost'), { code: 'conflict' });
  await memory.update_block({ name: 'core', content: '- Prefers coffee', options: { expected_updated_at: first.updated_at } });
  await assert.rejects(memory.get_block('core', { agent: true }), { code: 'no_agent' });
  const support = await memory.caller({ agent: 'support' });
  await support.run(() => globalThis.memory.update_block('core', '- Knows the tariff', { agent: true }));
  assert.equal((await support.get_block('core')).content, '- Prefers coffee');
  const { content, scope, agent_id } = await support.get_block('core', { agent: true });
  assert.deepEqual({ content, scope, agent_id }, { content: '- Knows the tariff', scope: 'agent', agent_id: 'support' });
});

test('models answer from mocks', async () => {
  const memory = await Memory.open({ stores: { notes: { access: 'user' } } });
  const ask = async () => {
    const request = { messages: [{ role: 'user', content: 'hello' }] };
    const [first, second] = await Promise.all([
      globalThis.model.chat('local', request),
      globalThis.model.chat({ name: 'local', request: { ...request, schema: { type: 'object' } } }),
    ]);
    await globalThis.memory.set_content('notes', { first: first.text });
    return second.object;
  };
  const mocks = { local: ['a text', { object: { n: 1 } }] };
  assert.equal((await memory.run(ask)).error.code, 'access_denied');
  assert.equal((await memory.run(ask, {}, { mocks: { local: ['only one'] } })).error.code, 'unavailable');
  assert.equal((await memory.run(ask, {}, { mocks: { local: ['a text', { error: { code: 'timeout' } }] } })).error.code, 'timeout');
  const { output, exception } = await memory.run(ask, {}, { mocks });
  assert.deepEqual([output, exception], [{ n: 1 }, undefined]);
  assert.deepEqual(await memory.content('notes'), { first: 'a text' });
  const granted = await memory.caller({ grants: { notes: 'read' } });
  assert.equal((await granted.run(ask, {}, { mocks })).error.code, 'access_denied');
  assert.equal(globalThis.model, undefined);
});

test('a test run mocks recall and stores nothing', async () => {
  const memory = await Memory.open({ stores: { kb: { kind: 'collection', access: 'application' }, notes: { access: 'user' } } });
  const answer = async () => {
    const found = await globalThis.memory.recall('kb', 'tea', { threshold: 0.5 });
    await globalThis.memory.remember('kb', 'green tea', { namespace: 's1', id: 'g', metadata: { kind: 'tea' } });
    await globalThis.memory.set_content('notes', { n: found.count });
    return found.results;
  };
  await memory.run(answer);
  const own = await memory.run(() => globalThis.memory.recall('kb', 'green tea', { namespace: 's1' }));
  assert.equal(own.output.count, 1);
  const { output, remembered, changes } = await memory.run(answer, {}, { test: true });
  assert.deepEqual(output, []);
  assert.deepEqual(remembered, [{ collection: 'kb', namespace: 's1', id: 'g', content: 'green tea', metadata: { kind: 'tea' } }]);
  assert.deepEqual(changes.map((change) => change.store), ['kb', 'notes']);
  const mocks = { recall: { kb: [['black tea', { content: 'x', score: 0.5, metadata: { a: 1 } }]] } };
  for (const test of [true, false]) {
    const mocked = await memory.run(answer, {}, { mocks, test });
    assert.deepEqual(mocked.output, [
      { id: '1', content: 'black tea', metadata: {}, score: 1 },
      { id: '2', content: 'x', metadata: { a: 1 }, score: 0.5 },
    ]);
    assert.deepEqual(await memory.content('notes'), { n: test ? 0 : 2 });
  }
});

test('a workflow owns facts', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'workflow-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'app.yaml'), 'app: flow\nfacts:\n  workflow.step: {type: number}\n');
  const memory = await Memory.open({ file: join(folder, 'app.yaml'), workflow: 'w1' });
  await memory.set_fact('workflow.step', 3);
  const elsewhere = await memory.caller({ session: 'another' });
  assert.equal(await elsewhere.get_fact('workflow.step'), 3);
  assert.equal(await (await memory.caller({ workflow: 'w2' })).get_fact('workflow.step'), null);
  assert.equal(await (await memory.caller({ workflow: null })).get_fact('workflow.step'), null);
  await memory.endWorkflow();
  await assert.rejects(memory.get_fact('workflow.step'), { code: 'workflow_ended' });
});
