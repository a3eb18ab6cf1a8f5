// Tests the client with a running toolrun serve. client_test.go sets the environment variables:
// SERVICE is the URL, OPERATOR and RUNTIME are keys.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Client, ToolrunError } from '@toolrun/sdk/client';
import { events } from '../events.mjs';

const url = process.env.SERVICE;
const operator = new Client({ url, key: process.env.OPERATOR });
const runtime = new Client({ url, key: process.env.RUNTIME, app: 'shop' });

/** Returns all items of an iterator. */
async function all(items) {
  const list = [];
  for await (const item of items) {
    list.push(item);
  }
  return list;
}

/** Starts a server with the given handler and returns its address. */
async function startServer(t, answer) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

test('a run returns its Result', async () => {
  const result = await runtime.run({ tool: 'order', input: { item: 'tea' }, user_id: 'ann' });
  assert.equal(result.ok, true);
  assert.deepEqual(result.output, { items: ['tea'] });
  assert.deepEqual(result.logs.map(({ level, text }) => [level, text]), [['info', 'ordered']]);
  assert.deepEqual(result.effects.writes.map(({ store, revision }) => [store, revision]), [['orders', 1]]);
});

test('an agent answers, and its rules apply without a turn', async () => {
  const [agent] = await runtime.agents();
  assert.deepEqual([agent.name, agent.tools, agent.events], ['Waiter', ['order'], ['session:start']]);
  const caller = { user_id: 'wim', session_id: 'wim-1' };
  assert.deepEqual((await runtime.turn('Waiter', caller)).messages, ['What would you like?']);
  const turn = { message: 'tea', ...caller };
  const first = await runtime.turn('Waiter', turn, { idempotencyKey: 'w1' });
  assert.deepEqual([first.ok, first.done, first.messages, first.variables], [true, true, ['One tea.'], { item: 'tea' }]);
  const again = await runtime.turn('Waiter', turn, { idempotencyKey: 'w1' });
  assert.deepEqual([again.repeated, again.turn_id], [true, first.turn_id]);
  assert.deepEqual((await runtime.fireEvent('Waiter', { event: 'session:start', ...caller })).injected, { 'user.item': 'tea' });
  const check = await runtime.checkConstraints('Waiter', { before: 'calling order', variables: { item: 'fish' }, ...caller });
  assert.deepEqual([check.blocked, check.failures[0].message], [true, 'The fish is gone.']);
  assert.deepEqual((await runtime.evaluateTriggers('Waiter', { variables: { item: 'milk' }, ...caller })).stored, { 'user.item': 'milk' });
  await assert.rejects(runtime.previewTurn('Waiter', caller), { code: 'access_denied', status: 403 });
  await assert.rejects(runtime.turn('Missing', caller), { code: 'not_found', status: 404 });
});

test('a run that failed in its tool is a Result', async () => {
  const result = await runtime.run({ tool: 'endless', timeout_ms: 200 });
  assert.equal(result.ok, false);
  assert.equal(result.error.code, 'timeout');
});

test('a run that cannot start is an error', async () => {
  await assert.rejects(runtime.run({ tool: 'order', input: { item: 5 }, user_id: 'ann' }), (error) => {
    assert.ok(error instanceof ToolrunError);
    assert.equal(error.name, 'ToolrunError');
    assert.deepEqual([error.code, error.status], ['input_invalid', 422]);
    assert.match(error.runId, /^run_/);
    assert.deepEqual(error.violations.map(({ pointer, keyword }) => [pointer, keyword]), [['/item', 'type']]);
    return true;
  });
  await assert.rejects(runtime.run({ tool: 'nothing' }), { code: 'not_found', status: 404 });
});

test('an error names the invalid part of the request', async () => {
  await assert.rejects(runtime.run({ tool: 'order', user: 'ann' }), (error) => {
    assert.deepEqual([error.code, error.status], ['invalid_argument', 422]);
    assert.equal(error.details[0].location, 'body.user');
    assert.match(error.message, /body\.user/);
    return true;
  });
});

test('an idempotency key returns the first Result', async () => {
  const run = { tool: 'order', input: { item: 'milk' }, user_id: 'ida' };
  const first = await runtime.run(run, { idempotencyKey: 'once' });
  const second = await runtime.run(run, { idempotencyKey: 'once' });
  assert.equal(second.run_id, first.run_id);
  assert.deepEqual([first.repeated, second.repeated], [undefined, true]);
});

test('a dry run stores nothing', async () => {
  const { changes } = await operator.run({ tool: 'order', input: { item: 'tea' }, user_id: 'dry', dry_run: true });
  assert.deepEqual(changes[0], { store: 'orders', before: null, after: { item: 'tea' } });
  await assert.rejects(operator.record({ user_id: 'dry' }, 'orders'), { code: 'not_found' });
});

test('code runs with a key that has the permission', async () => {
  const code = { language: 'javascript', code: 'return {twice: input.n * 2};', input: { n: 21 } };
  assert.deepEqual((await operator.runCode(code)).output, { twice: 42 });
  await assert.rejects(runtime.runCode(code), { code: 'access_denied', status: 403 });
});

test('a streamed run yields its log lines, then the Result', async () => {
  const events = await all(runtime.streamRun({ tool: 'order', input: { item: 'tée\n🫖' }, user_id: 'ann' }));
  assert.deepEqual(events.map((event) => Object.keys(event)), [['log'], ['result']]);
  const [{ log }, { result }] = events;
  assert.deepEqual([log.attempt, log.level, log.text], [1, 'info', 'ordered']);
  assert.deepEqual(result.output, { items: ['tée\n🫖'] });
  await assert.rejects(all(runtime.streamRun({ tool: 'order', input: {}, user_id: 'ann' })), { code: 'input_invalid', status: 200 });
});

test('a run is found by its id, and cancelled', async () => {
  let id;
  const onRunId = (begun) => { id = begun; };
  const lines = await all(operator.streamRunCode({ language: 'javascript', code: 'console.log("as code"); return 7' }, { onRunId }));
  assert.deepEqual([lines[0].log.text, lines[1].result.run_id, lines[1].result.output], ['as code', id, 7]);
  const { status, result } = await operator.runById(id);
  assert.deepEqual([status, result.output], ['done', 7]);
  for await (const { log, result } of runtime.streamRun({ tool: 'chatty', user_id: 'ann', timeout_ms: 120_000 }, { onRunId })) {
    if (log) {
      assert.equal((await runtime.runById(id)).status, 'running');
      assert.equal((await operator.cancelRun(id)).cancelled, true);
    } else {
      assert.deepEqual([result.run_id, result.error.code], [id, 'cancelled']);
    }
  }
  await assert.rejects(runtime.runById('run_unknown'), { code: 'not_found', status: 404 });
  await assert.rejects(runtime.startSession({ message: 'Hello' }), ({ code, hint }) => code === 'invalid_argument' && /default_tool/.test(hint));
});

test('leaving the stream or aborting cancels the run', async () => {
  const since = new Date();
  for await (const { log } of runtime.streamRun({ tool: 'chatty', user_id: 'quitter' })) {
    assert.equal(log.text, 'begun');
    break;
  }
  const controller = new AbortController();
  const reason = new Error('enough');
  await assert.rejects(async () => {
    for await (const { log } of runtime.streamRun({ tool: 'chatty', user_id: 'quitter' }, { signal: controller.signal })) {
      assert.equal(log.text, 'begun');
      controller.abort(reason);
    }
  }, { code: 'cancelled', outcome: 'unknown', cause: reason });
  await assert.rejects(runtime.run({ tool: 'endless', user_id: 'quitter' }, { signal: AbortSignal.timeout(200) }), { code: 'timeout', outcome: 'unknown' });
  let ended = [];
  while (ended.length < 3) { // the ledger entry is written in the background
    ended = await all(operator.ledgerEntries({ user_id: 'quitter', since }));
  }
  assert.deepEqual(ended.map(({ code }) => code), ['cancelled', 'cancelled', 'cancelled']);
  await assert.rejects(runtime.run({ tool: 'order' }, { signal: AbortSignal.abort() }), { code: 'cancelled', outcome: undefined });
});

test('sessions begin, change, are listed and end', async () => {
  const { session_id } = await runtime.startSession({ user_id: 'sam', metadata: { tier: 'gold' } });
  const caller = { user_id: 'sam', session_id };
  assert.deepEqual((await runtime.setMetadata(caller, { channel: 'web' })).metadata, { tier: 'gold', channel: 'web' });
  await runtime.startSession({ user_id: 'sam', session_id: 'sam:2@x+y=z' });
  const listed = (await all(runtime.allSessions({ user_id: 'sam', limit: 1 }))).map((session) => session.session_id);
  assert.deepEqual(listed.toSorted(), [session_id, 'sam:2@x+y=z'].toSorted());
  assert.equal((await runtime.session({ user_id: 'sam', session_id: 'sam:2@x+y=z' })).session_id, 'sam:2@x+y=z');
  assert.ok((await runtime.endSession(caller)).ended);
  await assert.rejects(runtime.run({ tool: 'order', input: { item: 'tea' }, ...caller }), { code: 'session_ended', status: 410 });
  await assert.rejects(runtime.session({ user_id: 'sam' }), { code: 'invalid_argument', status: 0 });
});

test('effects wait for an approval', async () => {
  const paused = await runtime.run({ tool: 'pay', input: { item: 'tea' }, user_id: 'pam' });
  assert.deepEqual([paused.status, paused.ok, paused.approval.effect.operation], ['paused', false, 'set_content']);
  const listed = await all(operator.allApprovals({ user_id: 'pam' }));
  assert.deepEqual(listed.map(({ token, state }) => [token, state]), [[paused.approval.token, 'pending']]);
  assert.equal((await operator.approvals({ user_id: 'quinn' })).items.length, 0);
  const done = await operator.approve(paused.approval.token);
  assert.deepEqual([done.status, done.output], ['completed', { items: ['tea'] }]);
  assert.equal((await operator.approval(paused.approval.token)).state, 'approved');
  await assert.rejects(operator.approve(paused.approval.token), { code: 'conflict', status: 409 });
  const second = await runtime.run({ tool: 'pay', input: { item: 'milk' }, user_id: 'pam' });
  assert.match((await operator.deny(second.approval.token, 'no milk')).error.message, /no milk/);
});

test('messages wait for sleep-time memory', async () => {
  const caller = { user_id: 'sue', session_id: 'sleepy', agent_id: 'Waiter' };
  const messages = [{ role: 'user', content: 'I like tea.' }, { role: 'assistant', content: 'Noted.' }];
  assert.deepEqual(await runtime.addMessages(caller, messages), { session_id: 'sleepy', messages: 2 });
  assert.ok((await runtime.sleepStatus()).waiting >= 1);
  assert.equal((await operator.pauseSleep()).paused, true);
  assert.equal((await operator.resumeSleep()).since, null);
  assert.ok((await operator.retrySleep()).waiting >= 1);
  await assert.rejects(runtime.retrySleep(), { code: 'access_denied', status: 403 });
  await assert.rejects(runtime.pauseSleep(), { code: 'access_denied', status: 403 });
});

test('workflows and facts', async () => {
  const caller = { user_id: 'flo', workflow_id: 'order-7' };
  assert.equal((await operator.setFact(caller, 'workflow.step', 1, { ttl: '1h' })).revision, 1);
  await operator.setFact(caller, 'user.language', 'fr', { ifRevision: 0 });
  assert.equal((await operator.fact(caller, 'workflow.step')).value, 1);
  const paths = async (query) => (await all(operator.allFacts(caller, { limit: 1, ...query }))).map(({ path }) => path).toSorted();
  assert.deepEqual(await paths(), ['user.language', 'workflow.step']);
  assert.deepEqual(await paths({ prefix: 'workflow' }), ['workflow.step']);
  assert.equal((await operator.deleteFact(caller, 'user.language', { ifRevision: 1 })).deleted, true);
  assert.equal((await runtime.workflow(caller)).user_id, 'flo');
  assert.deepEqual((await all(runtime.allWorkflows({ user_id: 'flo' }))).map(({ workflow_id }) => workflow_id), ['order-7']);
  assert.ok((await runtime.endWorkflow(caller)).ended);
  await assert.rejects(operator.fact(caller, 'workflow.step'), { code: 'workflow_ended', status: 410 });
});

test('blocks are read, replaced and searched', async () => {
  const { memory } = runtime;
  const mine = { user_id: 'kim' };
  await assert.rejects(memory.get('core', mine), { code: 'not_found', status: 404 });
  const core = await memory.update('core', '- Prefers tea', mine);
  assert.deepEqual([core.block_type, core.scope, core.agent_id, core.content], ['core', 'user', null, '- Prefers tea']);
  const next = await memory.update('core', '- Prefers milk', { expected_updated_at: new Date(core.updated_at), ...mine });
  assert.ok(Date.parse(next.updated_at) > Date.parse(core.updated_at));
  await assert.rejects(memory.update('core', '- Prefers beer', { expected_updated_at: core.updated_at, ...mine }), { code: 'conflict', status: 409 });
  await assert.rejects(memory.update('core', '- Prefers beer', mine), { code: 'conflict' });
  await assert.rejects(memory.update('core', 'x'.repeat(4001), { expected_updated_at: next.updated_at, ...mine }), { code: 'too_large', status: 422 });
  const agent = { scope: 'agent', agent_id: 'agent_records', ...mine };
  await memory.update('archival', '- Acme renewal: pricing options', agent);
  assert.deepEqual((await memory.list(mine)).map(({ block_type }) => block_type), ['core']);
  assert.deepEqual((await memory.list({ scope: 'all', ...mine })).map(({ scope }) => scope).toSorted(), ['agent', 'user']);
  assert.deepEqual((await memory.declared()).map(({ block_type, use, entries }) => [block_type, use, entries]), [['core', 'context', 20], ['archival', 'recall', null]]);
  const [line] = await memory.recall('Acme renewal', { agent_id: 'agent_records', limit: 10, ...mine });
  assert.deepEqual([line.scope, line.agent_id, line.line_number], ['agent', 'agent_records', 1]);
  assert.ok(line.content.startsWith('Acme renewal'));
  assert.deepEqual(await memory.recall('Acme renewal', mine), []);
  const found = await memory.context({ message: 'Acme renewal?', agent_id: 'agent_records', memory_policy: { archival_mode: 'auto' }, ...mine });
  assert.match(found.user_memory, /Prefers milk/);
  assert.match(found.system_reminders.join(), /Acme renewal/);
  await assert.rejects(memory.delete('core', mine), { code: 'invalid_argument', status: 0 });
  await assert.rejects(memory.delete('core', { expected_updated_at: core.updated_at, ...mine }), { code: 'conflict', status: 409 });
  assert.equal((await memory.delete('core', { expected_updated_at: next.updated_at, ...mine })).deleted, true);
});

test('files are imported into collections', async () => {
  const { collections } = operator;
  const file = new File(['# Tea\n\nGreen tea.\n\n# Coffee\n\nBlack coffee.\n'], 'drinks.md');
  const place = { namespace: 'files', source: 'guides/drinks.md', metadata: { team: 1 }, ttl: '1d' };
  assert.deepEqual(await collections.importFile('articles', file, place), { source: 'guides/drinks.md', entries: 2, unchanged: 0, removed: 0 });
  const again = await collections.importFile('articles', new Blob(['# Tea\n\nGreen tea.\n']), { ...place, name: 'drinks.txt' });
  assert.deepEqual(again, { source: 'guides/drinks.md', entries: 1, unchanged: 0, removed: 1 });
  const [found] = await collections.recall('articles', 'green tea', { namespace: 'files', filter: { team: 1 } });
  assert.deepEqual(found.metadata, { heading: 'Tea', offset: 0, source: 'guides/drinks.md', team: 1 });
  await assert.rejects(collections.importFile('articles', new File(['<p>'], 'page.html')), { code: 'invalid_argument' });
  await assert.rejects(collections.importFile('articles', new Blob(['tea'])), { code: 'invalid_argument' });
  await assert.rejects(collections.importFile('articles', file, { metadata: { n: 1n } }), { code: 'invalid_argument' });
  const moved = await collections.reembed('articles');
  assert.deepEqual([moved.done, moved.moved, moved.embedder.startsWith('lexical')], [true, 0, true]);
  await assert.rejects(runtime.collections.reembed('articles'), { code: 'access_denied' });
  await collections.forget('articles', { namespace: 'files', all: true });
});

test('entries of collections are stored, searched, listed and removed', async () => {
  const { collections } = operator;
  const stored = await collections.remember('articles', [
    { id: 'r/1', content: 'We refund a broken cup.', metadata: { category: 'refunds', year: 2026 }, ttl: '1d' },
    { content: { text: 'A parcel takes a week.' }, metadata: { category: 'shipping' } },
    { id: 'r/1', namespace: 'drafts', content: 'green tea' },
  ]);
  assert.deepEqual([stored.length, stored[0].id, stored[2].id], [3, 'r/1', 'r/1']);
  assert.ok(stored[1].id && Date.parse(stored[0].expires_at) < Date.parse(stored[1].expires_at));
  const [best] = await runtime.collections.recall('articles', 'broken cup', { limit: 1, scores: true });
  assert.deepEqual([best.id, best.content, best.metadata.year], ['r/1', 'We refund a broken cup.', 2026]);
  assert.ok(best.score > 0 && best.vector > 0 && best.text > 0);
  const search = { mode: 'text', threshold: 0.01, filter: { year: { gte: 2026 } } };
  assert.equal((await collections.recall('articles', 'broken cup', search)).length, 1);
  assert.deepEqual(await collections.recall('articles', 'green tea', search), []);
  const [draft] = await collections.recall('articles', 'green tea', { namespace: 'drafts' });
  assert.deepEqual([draft.content, draft.vector], ['green tea', undefined]);
  assert.equal((await collections.entry('articles', 'r/1', { namespace: 'drafts' })).content, 'green tea');
  assert.equal((await collections.entry('articles', 'r/1')).metadata.category, 'refunds');
  await assert.rejects(collections.entry('articles', 'missing'), { code: 'not_found', status: 404, store: 'articles' });
  const listed = async (query) => (await all(collections.allEntries('articles', { limit: 1, ...query }))).map(({ namespace }) => namespace).toSorted();
  assert.deepEqual(await listed(), ['', '', 'drafts']);
  assert.deepEqual(await listed({ namespace: '' }), ['', '']);
  assert.deepEqual(await listed({ namespace: 'drafts' }), ['drafts']);
  const { name, declared, access, entries, namespaces } = await runtime.collections.get('articles');
  assert.deepEqual([name, declared, access, entries, namespaces], ['articles', true, 'application', 3, 2]);
  assert.deepEqual((await runtime.collections.list()).map((collection) => collection.name).toSorted(), ['articles', 'diary']);
  await assert.rejects(collections.get('missing'), { code: 'not_found', status: 404 });
  assert.deepEqual(await collections.forget('articles', { filter: { category: 'shipping' } }), { count: 1, more: false });
  assert.equal((await collections.forget('articles', { id: 'r/1' })).count, 1);
  assert.deepEqual(await listed(), ['drafts']);
  assert.equal((await collections.forget('articles', { namespace: 'drafts', all: true })).count, 1);
});

test('entries belong to their user', async () => {
  const { collections } = operator;
  for (const user_id of ['una', 'uri']) {
    await collections.remember('diary', [{ id: 'd1', content: `the tea of ${user_id}` }], { user_id });
  }
  const una = { user_id: 'una' };
  assert.deepEqual((await runtime.collections.recall('diary', 'tea', una)).map(({ content }) => content), ['the tea of una']);
  assert.equal((await runtime.collections.entry('diary', 'd1', una)).user_id, 'una');
  assert.deepEqual((await runtime.collections.entries('diary', una)).items.map(({ user_id }) => user_id), ['una']);
  assert.deepEqual((await all(collections.allEntries('diary'))).map(({ user_id }) => user_id).toSorted(), ['una', 'uri']);
  await assert.rejects(runtime.collections.remember('diary', [{ content: 'x' }], una), { code: 'access_denied', status: 403 });
  await assert.rejects(runtime.collections.forget('diary', { id: 'd1', ...una }), { code: 'access_denied', status: 403 });
  assert.equal((await collections.forget('diary', { all: true, ...una })).count, 1);
  assert.deepEqual((await all(collections.allEntries('diary'))).map(({ user_id }) => user_id), ['uri']);
});

test('invalid requests change no collection', async () => {
  const { collections } = operator;
  await collections.remember('articles', [{ id: 'kept', content: 'tea', metadata: { category: 'drinks' } }]);
  await assert.rejects(collections.remember('articles', [{ id: 'new', content: 'x' }, { content: 'x', ttl: 'soon' }]), /entry 1/);
  await assert.rejects(collections.remember('articles', []), { code: 'invalid_argument' });
  await assert.rejects(collections.remember('articles', Array(101).fill({ content: 'x' })), { code: 'invalid_argument' });
  await assert.rejects(collections.forget('articles', {}), { code: 'invalid_argument', status: 400 });
  await assert.rejects(collections.forget('articles', { id: 'kept', all: true }), { code: 'invalid_argument', status: 400 });
  const lost = { category: 'drinks', year: { gte: undefined } };
  for (const filter of [lost, { category: undefined }, { category: { in: [undefined] } }, { year: { lte: Infinity } }, new Map(), { category: new Set() }]) {
    await assert.rejects(collections.forget('articles', { filter }), { code: 'invalid_argument', status: 0 });
    await assert.rejects(collections.recall('articles', 'tea', { filter }), { code: 'invalid_argument', status: 0 });
  }
  const loop = {};
  loop.self = loop;
  await assert.rejects(collections.forget('articles', { filter: loop }), { code: 'invalid_argument', status: 0 });
  assert.deepEqual((await all(collections.allEntries('articles'))).map(({ id }) => id), ['kept']);
  await collections.forget('articles', { all: true });
});

test('files are uploaded, changed and downloaded', async () => {
  const caller = { user_id: 'fay', session_id: 'files' };
  const bytes = 'what she said';
  const uploaded = await runtime.uploadFile(caller, new File([bytes], 'Réport, 1.txt', { type: 'text/plain' }));
  assert.deepEqual([uploaded.filename, uploaded.type, uploaded.size], ['Réport, 1.txt', 'txt', bytes.length]);
  const second = await runtime.uploadFile(caller, new Blob(['{}'], { type: 'application/json' }), { name: 'plain.json' });
  assert.deepEqual((await runtime.files(caller)).map(({ file_id }) => file_id).toSorted(), [uploaded.file_id, second.file_id].toSorted());
  assert.equal((await runtime.changeFile(caller, uploaded.file_id, { is_active: false })).is_active, false);
  const unwanted = await runtime.uploadFile(caller, new File(['x'], 'unwanted.txt', { type: 'text/plain' }));
  assert.equal((await runtime.deleteFile(caller, unwanted.file_id)).filename, 'unwanted.txt');
  await assert.rejects(runtime.deleteFile(caller, unwanted.file_id), { code: 'not_found' });
  for (const [{ file_id, filename }, want] of [[uploaded, bytes], [second, '{}']]) {
    const file = await runtime.file(caller, file_id);
    assert.deepEqual([file.name, await file.text()], [filename, want]);
  }
  await assert.rejects(runtime.file({ ...caller, user_id: 'mallory' }, uploaded.file_id), { code: 'access_denied' });
  await assert.rejects(runtime.uploadFile(caller, new Blob(['<html>'])), { code: 'invalid_argument', status: 0 });
  await assert.rejects(runtime.uploadFile(caller, new File(['MZ'], 'x.exe')), { code: 'invalid_argument', status: 400 });
});

test('tools and prompts', async () => {
  assert.deepEqual((await runtime.tools()).map(({ name }) => name).toSorted(), ['chatty', 'endless', 'order', 'pay']);
  assert.deepEqual(await runtime.prompts(), [{ name: 'recap', description: 'What was ordered' }]);
  await runtime.run({ tool: 'order', input: { item: 'tea' }, user_id: 'pat' });
  assert.deepEqual(await runtime.render({ user_id: 'pat' }, 'recap'), { name: 'recap', text: 'Ordered: tea' });
});

test('stores are created, changed, exported and imported', async () => {
  const store = { technical_name: 'jsNotes', access: 'user', retention: '30d' };
  assert.equal((await operator.createStore(store)).declared, 'api');
  assert.equal((await operator.changeStore({ ...store, name: 'Notes' })).name, 'Notes');
  assert.equal((await operator.store('jsNotes')).name, 'Notes');
  assert.ok((await operator.stores()).some(({ technical_name, declared }) => technical_name === 'orders' && declared === 'file'));
  const document = await operator.exportApp();
  document.memory.jsImported = document.memory.jsNotes;
  assert.ok((await operator.importStores(document)).stores.includes('jsImported'));
  await assert.rejects(operator.createStore(store), { code: 'conflict', status: 409 });
});

test('records have revisions', async () => {
  const caller = { user_id: 'rae' };
  const first = await operator.putRecord(caller, 'profile', { language: 'fr', age: 3 }, { ifRevision: 0 });
  assert.equal(first.revision, 1);
  await assert.rejects(operator.putRecord(caller, 'profile', {}, { ifRevision: 0 }), { code: 'conflict', status: 412 });
  const second = await operator.patchRecord(caller, 'profile', { age: null }, { ifRevision: 1, ttl: '1h' });
  assert.deepEqual([second.revision, second.content], [2, { language: 'fr' }]);
  assert.ok(second.expires_at);
  await assert.rejects(operator.patchRecord(caller, 'profile', { age: 4 }, { ifRevision: 1 }), { code: 'conflict', status: 412 });
  await operator.patchRecord(caller, 'profile', { age: 5 });
  assert.deepEqual((await operator.record(caller, 'profile', { projection: { age: 1 } })).content, { age: 5 });
  await assert.rejects(operator.putRecord(caller, 'profile', { age: 'old' }), (error) => {
    assert.deepEqual([error.code, error.status, error.store], ['schema_violation', 422, 'profile']);
    assert.deepEqual(error.violations, [{ pointer: '/age', keyword: 'type', limit: 'integer' }]);
    return true;
  });
  const page = await operator.records({}, 'profile', { limit: 1 });
  assert.deepEqual(page.items.map(({ user_id }) => user_id), ['rae']);
  const listed = [];
  for await (const { user_id } of operator.allRecords({}, 'profile', { limit: 1 })) listed.push(user_id);
  assert.deepEqual(listed, ['rae']);
  await assert.rejects(operator.deleteRecord(caller, 'profile', { ifRevision: 9 }), { code: 'conflict', status: 412 });
  assert.deepEqual(await operator.deleteRecord(caller, 'profile', { ifRevision: 3 }), { success: true, deleted: true });
  assert.equal((await operator.deleteRecord(caller, 'profile')).deleted, false);
  await operator.putRecord(caller, 'profile', {});
  assert.equal(await operator.purgeStore('profile'), 1);
});

test('the ledger is read page after page, and a user is erased', async () => {
  for (const item of ['a', 'b', 'c']) {
    await runtime.run({ tool: 'order', input: { item }, user_id: 'leo' });
  }
  const query = { user_id: 'leo', writes: true, since: new Date(Date.now() - 3_600_000) };
  assert.equal((await operator.ledger({ ...query, limit: 2 })).items.length, 2);
  const entries = await all(operator.ledgerEntries({ ...query, limit: 1 }));
  assert.deepEqual(entries.map(({ tool, actor }) => [tool, actor]), [['order', 'runtime'], ['order', 'runtime'], ['order', 'runtime']]);
  const archive = Buffer.from(await new Response(await operator.exportUser('leo')).arrayBuffer());
  assert.ok(archive.subarray(0, 2).equals(Buffer.from('PK')) && archive.includes('records.ndjson'));
  const erased = await operator.eraseUser('leo');
  assert.deepEqual([erased.user_id, erased.stores], ['leo', { orders: 1 }]);
  assert.deepEqual((await all(operator.ledgerEntries(query))).filter(({ act }) => act === 'run'), []);
});

test('usage counts runs', async () => {
  await runtime.run({ tool: 'order', input: { item: 'a' }, user_id: 'mia' });
  const [used] = await all(operator.allUsage({ since: new Date(Date.now() - 86_400_000), limit: 1 }));
  assert.ok(used.runs > 0 && used.stored_bytes > 0 && used.app !== '' && used.tenant !== '', JSON.stringify(used));
  const later = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
  assert.equal((await operator.usage({ since: later })).items[0].runs, 0);
});

test('every method is described', async () => {
  const types = await readFile(new URL('../client.d.mts', import.meta.url), 'utf8');
  const described = (start) => {
    const [declaration] = types.slice(types.indexOf(start)).split('\n}\n');
    return [...new Set(Array.from(declaration.matchAll(/^  (\w+)[<(]/gm), ([, name]) => name))];
  };
  assert.deepEqual(described('export class Client '), Object.getOwnPropertyNames(Client.prototype));
  assert.deepEqual(['constructor', ...described('export interface Collections ')], Object.getOwnPropertyNames(Object.getPrototypeOf(operator.collections)));
  assert.deepEqual(['constructor', ...described('export interface Memory ')], Object.getOwnPropertyNames(Object.getPrototypeOf(operator.memory)));
});

test('a backup is complete, or the download fails', async (t) => {
  const { size, content } = await new Client({ url, key: process.env.BACKUP }).backup();
  assert.equal((await new Response(content).arrayBuffer()).byteLength, size);
  await assert.rejects(operator.backup(), { code: 'access_denied', status: 403 });
  const broken = await startServer(t, (request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': 100 });
    response.write('half', () => response.destroy());
  });
  const half = await new Client({ url: broken }).backup();
  await assert.rejects(new Response(half.content).arrayBuffer());
});

test('whoami', async () => {
  assert.deepEqual(await runtime.whoami(), { name: 'runtime', role: 'runtime', tenant: 'default', apps: ['shop'] });
});

test('errors do not contain the key', async (t) => {
  const key = 'trk_secret_of_mine';
  const sent = await startServer(t, (request, response) => {
    assert.equal(request.headers.authorization, `Bearer ${key}`);
    response.writeHead(502, { 'Content-Type': 'text/html' }).end(`<p>${request.headers.authorization}</p>`);
  });
  const moved = await startServer(t, (request, response) => response.writeHead(302, { Location: `${sent}/api/v1/whoami` }).end());
  const broken = async () => { throw new TypeError(`Bearer ${key}`, { cause: { options: { key } } }); };
  const clients = [
    new Client({ url, key }), new Client({ url: sent, key }), new Client({ url: moved, key }),
    new Client({ url: 'http://127.0.0.1:1', key }), new Client({ url, key, fetch: broken }),
  ];
  const want = [['access_denied', 401], ['unavailable', 502], ['unavailable', 302], ['unavailable', 0], ['unavailable', 0]];
  for (const [i, client] of clients.entries()) {
    const error = await client.whoami().catch((error) => error);
    assert.ok(error instanceof ToolrunError);
    assert.deepEqual([error.code, error.status], want[i]);
    const printed = inspect([error, client], { depth: 9, showHidden: true }) + error.stack + JSON.stringify([error, client]);
    assert.ok(!printed.includes(key), printed);
  }
  for (const wrong of [`${key}\n`, `${key} `, `${key}é`]) {
    assert.throws(() => new Client({ url, key: wrong }), (error) => error.code === 'invalid_argument' && !inspect(error).includes(key));
  }
});

test('invalid arguments are reported before anything is sent', async () => {
  for (const wrong of ['', 'tools.example', 'ftp://tools.example', 'https://me:secret@tools.example', 'https://tools.example?key=secret']) {
    assert.throws(() => new Client({ url: wrong }), (error) => error.code === 'invalid_argument' && !error.message.includes('secret'));
  }
  const never = new Client({ url, fetch: () => assert.fail('something was sent') });
  const loop = {};
  loop.self = loop;
  for (const call of [
    never.eraseUser('..'), never.eraseUser(''), never.store('\ud800'), never.putRecord({}, 'profile', undefined), never.run(loop),
    never.run({ tool: 'order' }, { idempotencyKey: 'a\nb' }),
  ]) {
    await assert.rejects(call, { code: 'invalid_argument', status: 0 });
  }
});

test('a repeatable request is retried when the service is busy', async (t) => {
  let asked = 0;
  const problem = { type: 'about:blank', title: 'busy', status: 429, detail: 'too many requests', code: 'unavailable' };
  const busy = await startServer(t, (request, response) => {
    if (asked++ % 2 === 0) {
      response.writeHead(429, { 'Content-Type': 'application/problem+json', 'Retry-After': '1' }).end(JSON.stringify(problem));
      return;
    }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true}');
  });
  const client = new Client({ url: `${busy}/` });
  await client.whoami();
  assert.equal(asked, 2);
  await client.run({ tool: 'order' }, { idempotencyKey: 'once' });
  assert.equal(asked, 4);
  await assert.rejects(client.run({ tool: 'order' }), { code: 'unavailable', status: 429, retryAfter: 1 });
  assert.equal(asked, 5);
});

test('events are read from chunks of any size', async () => {
  const bytes = new TextEncoder().encode(': hello\n\nevent: a\ndata: é\ndata:b\r\n\r\nevent: none\n\ndata\n\ndata: never ends');
  for (const size of [1, 2, bytes.length]) {
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < bytes.length; i += size) {
          controller.enqueue(bytes.subarray(i, i + size));
        }
        controller.close();
      },
    });
    assert.deepEqual(await all(events(body)), [{ name: 'a', data: 'é\nb' }, { name: '', data: '' }]);
  }
});

test('a request to an unreachable service has a known outcome', async () => {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new Client({ url: `http://127.0.0.1:${server.address().port}` });
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(client.run({ tool: 'order' }), { code: 'unavailable', status: 0, outcome: undefined, message: /ECONNREFUSED/ });
});

test('a response that breaks off has an unknown outcome', async (t) => {
  const half = await startServer(t, (request, response) => {
    response.writeHead(200, { 'Content-Type': request.headers.accept });
    response.write('event: log\r\ndata: {"text":"a",\r\ndata: "attempt":1}\r\n\r\nevent: result\ndata: {"ok":', () => response.destroy());
  });
  const client = new Client({ url: half });
  const seen = [];
  await assert.rejects(async () => {
    for await (const { log } of client.streamRun({ tool: 'order' })) {
      seen.push(log);
    }
  }, { code: 'unavailable', outcome: 'unknown' });
  assert.deepEqual(seen, [{ text: 'a', attempt: 1 }]);
  await assert.rejects(client.run({ tool: 'order' }), { code: 'unavailable', outcome: 'unknown' });
  await assert.rejects(client.whoami(), { code: 'unavailable', outcome: undefined });
});
