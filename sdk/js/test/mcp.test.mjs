// Tests toolrun mcp with the official MCP client. client_test.go sets the variables: TOOLRUN is the
// binary, APP an app file and DB its database.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { LoggingMessageNotificationSchema, McpError } from '@modelcontextprotocol/sdk/types.js';

const client = new Client({ name: 'test', version: '1' });
const lines = [];

before(async () => {
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => lines.push(params));
  await client.connect(new StdioClientTransport({
    command: process.env.TOOLRUN,
    args: ['mcp', '--app', process.env.APP, '--db', process.env.DB, '--user', 'ann', '--inprocess'],
    stderr: 'inherit',
  }));
});

after(() => client.close());

test('the server identifies itself', () => {
  assert.equal(client.getServerVersion().name, 'toolrun');
  assert.deepEqual(Object.keys(client.getServerCapabilities()).sort(), ['logging', 'prompts', 'resources', 'tools']);
});

test('tools are listed as they are declared', async () => {
  const { tools } = await client.listTools();
  const order = tools.find(({ name }) => name === 'order');
  assert.equal(order.title, 'Order');
  assert.equal(order.description, 'Order something');
  assert.deepEqual(order.inputSchema.required, ['item']);
  assert.equal(order.outputSchema.type, 'object');
  assert.deepEqual(order.annotations, {
    readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false,
  });
});

test('the result of a call matches the schema that the client checks', async () => {
  const result = await client.callTool({ name: 'order', arguments: { item: 'tea' } });
  assert.deepEqual(result.structuredContent, { items: ['tea'] });
  assert.deepEqual(result.content, [{ type: 'text', text: '{"items":["tea"]}' }]);
  assert.ok(!result.isError);
});

test('a failed run is a result', async () => {
  const result = await client.callTool({ name: 'order', arguments: { item: 5 } });
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /^input_invalid: .*\/item/);
  assert.equal(result._meta['toolrun/fault'].code, 'input_invalid');
});

test('an unknown tool is an error of the protocol', async () => {
  await assert.rejects(client.callTool({ name: 'nothing' }), McpError);
});

test('logs arrive while a tool runs', async () => {
  await client.setLoggingLevel('info');
  await client.callTool({ name: 'order', arguments: { item: 'tea' } });
  assert.deepEqual(lines.map(({ level, logger, data }) => [level, logger, data]), [['info', 'order', 'ordered']]);
});

test('progress arrives while a tool runs', async () => {
  const controller = new AbortController();
  const progress = [];
  const call = client.callTool({ name: 'endless' }, undefined, { // the client drops notifications right before a response
    signal: controller.signal,
    onprogress: ({ message }) => {
      progress.push(message);
      controller.abort();
    },
  });
  await assert.rejects(call);
  assert.equal(progress[0], 'the run begins');
});

test('a cancelled call stops the run', async () => {
  const controller = new AbortController();
  const call = client.callTool({ name: 'endless' }, undefined, { signal: controller.signal });
  controller.abort();
  await assert.rejects(call);
  const { structuredContent } = await client.callTool({ name: 'order', arguments: { item: 'milk' } });
  assert.deepEqual(structuredContent, { items: ['milk'] });
});

test('a resource contains the record that a tool wrote', async () => {
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map(({ uri }) => uri), ['blocks/user/archival', 'blocks/user/core', 'orders', 'sessionMeta'].map((name) => `toolrun://shop/memory/${name}`));
  const { contents } = await client.readResource({ uri: 'toolrun://shop/memory/orders' });
  assert.deepEqual(contents, [{ uri: 'toolrun://shop/memory/orders', mimeType: 'application/json', text: '{"item":"milk"}' }]);
  await assert.rejects(client.readResource({ uri: 'toolrun://shop/memory/secrets' }), McpError);
});

test('a prompt is one message', async () => {
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts, [{ name: 'recap', description: 'What was ordered' }]);
  const { messages } = await client.getPrompt({ name: 'recap' });
  assert.deepEqual(messages, [{ role: 'user', content: { type: 'text', text: 'Ordered: milk' } }]);
});
