// Tests a running toolrun serve with the official MCP client. client_test.go sets the environment
// variables: SERVICE is the URL, RUNTIME is a key.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema, McpError } from '@modelcontextprotocol/sdk/types.js';

/** Opens an MCP session for a user. onLine receives its log lines. */
async function connect(user, onLine = () => {}) {
  const client = new Client({ name: 'test', version: '1' });
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => onLine(params));
  const transport = new StreamableHTTPClientTransport(new URL(`${process.env.SERVICE}/mcp?user_id=${user}`), {
    requestInit: { headers: { Authorization: `Bearer ${process.env.RUNTIME}` } },
  });
  await client.connect(transport);
  return { client, transport };
}

const lines = [];
let ann;
let ben;

before(async () => {
  ann = await connect('mcp-ann', (line) => lines.push(line));
  ben = await connect('mcp-ben');
});

after(async () => {
  for (const { client, transport } of [ann, ben]) {
    await transport.terminateSession();
    await client.close();
  }
});

test('tools, prompts and resources are listed', async () => {
  assert.equal(ann.client.getServerVersion().name, 'toolrun');
  assert.deepEqual((await ann.client.listTools()).tools.map(({ name }) => name).toSorted(), ['Waiter', 'chatty', 'endless', 'order', 'pay', 'recall_collection', 'recall_memory', 'update_memory']);
  assert.deepEqual((await ann.client.listPrompts()).prompts, [{ name: 'recap', description: 'What was ordered' }]);
  const { resources } = await ann.client.listResources();
  assert.deepEqual(resources.map(({ uri }) => uri), ['blocks/user/archival', 'blocks/user/core', 'orders', 'sessionMeta'].map((name) => `toolrun://shop/memory/${name}`));
});

test('a call returns a result and logs, and stores its record for its user only', async () => {
  await ann.client.setLoggingLevel('info');
  const result = await ann.client.callTool({ name: 'order', arguments: { item: 'tea' } });
  assert.deepEqual(result.structuredContent, { items: ['tea'] });
  assert.deepEqual(lines.map(({ logger, data }) => [logger, data]), [['order', 'ordered']]);
  const uri = 'toolrun://shop/memory/orders';
  assert.equal((await ann.client.readResource({ uri })).contents[0].text, '{"item":"tea"}');
  assert.equal((await ben.client.readResource({ uri })).contents[0].text, 'null');
  const { messages } = await ann.client.getPrompt({ name: 'recap' });
  assert.deepEqual(messages, [{ role: 'user', content: { type: 'text', text: 'Ordered: tea' } }]);
});

test('failures are reported', async () => {
  const result = await ann.client.callTool({ name: 'order', arguments: { item: 5 } });
  assert.equal(result._meta['toolrun/fault'].code, 'input_invalid');
  await assert.rejects(ann.client.callTool({ name: 'nothing' }), McpError);
});

test('a cancelled call stops the run', async () => {
  const controller = new AbortController();
  const call = ann.client.callTool({ name: 'endless' }, undefined, { signal: controller.signal });
  controller.abort();
  await assert.rejects(call);
  assert.deepEqual((await ann.client.callTool({ name: 'order', arguments: { item: 'milk' } })).structuredContent, { items: ['milk'] });
});
