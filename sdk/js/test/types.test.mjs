// Tests the types with the TypeScript compiler. Supported globals must compile without the DOM
// library. Unsupported globals must not compile.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const sdk = join(import.meta.dirname, '..');

/**
 * Compiles the files and returns the compiler's messages, one per line. If whole is set,
 * TypeScript's own libraries are also checked, because a declaration of this package could make a
 * declaration of these libraries invalid. Checking the libraries takes most of the time.
 */
async function check(files, { lib = ['es2023'], whole = false } = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'toolrun-types'));
  await mkdir(join(dir, 'node_modules', '@toolrun'), { recursive: true });
  await symlink(sdk, join(dir, 'node_modules', '@toolrun', 'sdk'));
  const options = { strict: true, skipDefaultLibCheck: !whole, noEmit: true, checkJs: true, allowJs: true, module: 'nodenext', target: 'es2023', lib, types: ['@toolrun/sdk'] };
  await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*.ts', '*.mts', '*.js'] }));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(dir, name), text);
  }
  const lines = await new Promise((resolve) => {
    execFile(process.execPath, [tsc, '-p', dir], (_, out) => resolve(out.trim().split('\n').filter((line) => line)));
  });
  await rm(dir, { recursive: true });
  return lines;
}

const tool = `
export default async function (input: { $name: string }, context: { message?: string }) {
  const before = await memory.get_content<{ visits: number }>('visits');
  const reply = await memory.set_content('visits', { visits: (before?.visits ?? 0) + 1 }, { if_revision: 1, ttl: '30m' });
  const at: string | null = reply.updated_at;
  await memory.delete_content('visits', { if_revision: 2 });
  const url = new URL('/a?b=1', 'https://example.com');
  const bytes = new TextEncoder().encode(url.searchParams.get('b') ?? '');
  const text: string = new TextDecoder().decode(await crypto.subtle.digest('SHA-256', bytes));
  console.table([{ a: 1 }]);
  clearTimeout(setTimeout(() => {}, 10));
  for (const [name, value] of new URLSearchParams({ a: '1' })) console.log(name, value, performance.now());
  try {
    await memory.get_content('other');
  } catch (error) {
    if (error instanceof MemoryAccessError) console.error(error.code, error.violations[0]?.pointer, error.hint);
  }
  const price = (1234.5).toLocaleString('de-DE', { style: 'currency', currency: 'EUR' });
  return { at, text, price, id: crypto.randomUUID(), both: structuredClone({ a: atob(btoa('x')) }), env: env.TIER, tier: process.env.TIER,
    hex: Buffer.from('x').toString('hex'), asked: context.message, name: input.$name };
}
`;

test('a tool compiles without the DOM', async () => assert.deepEqual(await check({ 'tool.ts': tool }, { whole: true }), []));

test('a tool compiles with the DOM library', async () => assert.deepEqual(await check({ 'tool.ts': tool }, { lib: ['es2023', 'dom', 'dom.iterable'], whole: true }), []));

const digest = `
import { createHash, randomBytes } from 'node:crypto';
import * as crypto from 'crypto';
import { Buffer as Bytes } from 'buffer';
export async function handler(event: { text: string }) {
  const hex: string = createHash('sha256').update(event.text).digest('hex');
  const mac: string = crypto.createHmac('sha1', 'key').update(Buffer.from(hex)).digest().toString('base64');
  return [mac, randomBytes(3).readUInt8(0), Bytes.from('x').length];
}
`;

test('the supported modules of Node.js compile', async () => assert.deepEqual(await check({ 'tool.ts': digest }), []));

test('a tool in JavaScript is checked', async () => {
  const found = await check({ 'tool.js': `export async function main() {\n  return memory.get_contents('visits');\n}\n` });
  assert.match(found.join('\n'), /get_contents/);
});

test('a record may be missing', async () => {
  const found = await check({ 'tool.ts': `export const main = async () => (await memory.get_content('visits')).count;` });
  assert.match(found.join('\n'), /possibly 'null'/);
});

test('the session is typed', async () => {
  const tool = (path) => ({ 'tool.ts': `export const main = async () => (await memory.get_content('sessionMeta'))${path};` });
  assert.deepEqual(await check(tool('.sessionInfo.userId')), []);
  assert.match((await check(tool('.sesionInfo.userId'))).join('\n'), /sesionInfo/);
});

test('unsupported globals do not compile', async () => {
  for (const name of ['fetch', 'document', 'localStorage', 'window', 'XMLHttpRequest', 'WebSocket']) {
    assert.match((await check({ 'tool.ts': `export const main = () => ${name};` })).join('\n'), new RegExp(`'${name}'`), name);
  }
});

const tests = `
import { Memory, MemoryAccessError, ToolrunError, type Result } from '@toolrun/sdk/double';
const memory = await Memory.open({ stores: { visits: { access: 'user', retention: '1h' } }, user: null, grants: { visits: ['read'] } });
const visit = async (input: { page: string }) => ({ count: input.page.length });
const result: Result<{ count: number }> = await memory.run(visit, { page: '/' }, { env: { TIER: 'gold' } });
const count: number = result.output.count;
await memory.refuse('visits', 'unavailable');
const other: Memory = await memory.caller({ user: 'bob' });
const visits = await other.get_content<{ count: number }>('visits');
export const known = [count, visits?.count, result.error?.hint, (await memory.dump())[0]?.revision, MemoryAccessError, ToolrunError];
`;

test('the tests of tools compile', async () => {
  assert.deepEqual(await check({ 'tests.mts': tests }), []);
  assert.match((await check({ 'tests.mts': tests.replace("access: 'user'", "access: 'everybody'") })).join('\n'), /everybody/);
});

const program = `
import { Client, type Entry, type FoundEntry } from '@toolrun/sdk/client';
const { collections } = new Client({ url: 'https://tools.example' });
const [stored] = await collections.remember('articles', [{ content: { text: 'tea' }, metadata: { year: 2026 } }], { user_id: 'ann' });
const found: FoundEntry<string>[] = await collections.recall<string>('articles', 'tea', { mode: 'text', filter: { year: { gte: 2026 }, category: { in: ['a'] } } });
for await (const entry of collections.allEntries<string>('articles', { namespace: '' })) found.push({ ...entry, metadata: entry.metadata ?? {}, score: 0 });
const entry: Entry = await collections.entry('articles', stored?.id ?? '');
export const more: boolean = (await collections.forget('articles', { id: entry.id })).more;
`;

test('a program with the client compiles', async () => {
  const lib = ['es2023', 'dom', 'dom.iterable'];
  assert.deepEqual(await check({ 'program.mts': program }, { lib }), []);
  assert.match((await check({ 'program.mts': program.replace('{ id: entry.id }', '{ id: entry.id, all: true }') }, { lib })).join('\n'), /'true'/);
});
