// The blocks of users, as a part of client.mjs.
import { mistake } from './transport.mjs';

/** The blocks of users. client.d.mts describes the methods. */
export class Memory {
  #transport;

  constructor(transport) {
    this.#transport = transport;
  }

  async list({ scope, agent_id, user_id } = {}, options) {
    return (await this.#transport.json('GET', ['memory', 'blocks'], { query: { scope, agent_id, user_id }, ...options })).blocks;
  }

  async declared(options) {
    return (await this.#transport.json('GET', ['memory', 'declarations'], { ...options })).blocks;
  }

  async get(block, { scope, agent_id, user_id } = {}, options) {
    return this.#transport.json('GET', ['memory', 'blocks', block], { query: { scope, agent_id, user_id }, ...options });
  }

  async update(block, content, { expected_updated_at = null, scope, agent_id, user_id } = {}, options) {
    const json = { value: { content, expected_updated_at: timeOf(expected_updated_at) } };
    return this.#transport.json('PUT', ['memory', 'blocks', block], { query: { scope, agent_id, user_id }, json, ...options });
  }

  async delete(block, { expected_updated_at, scope, agent_id, user_id } = {}, options) {
    if (!expected_updated_at) {
      throw mistake('expected_updated_at is required to delete a block');
    }
    const query = { expected_updated_at: timeOf(expected_updated_at), scope, agent_id, user_id };
    return this.#transport.json('DELETE', ['memory', 'blocks', block], { query, ...options });
  }

  async recall(query, { agent_id, user_id, limit, min_score } = {}, options) {
    const json = { value: { query, agent_id, user_id, limit, min_score } };
    return (await this.#transport.json('POST', ['memory', 'recall'], { json, repeatable: true, ...options })).results;
  }

  async context(request = {}, options) {
    return this.#transport.json('POST', ['memory', 'context'], { json: { value: request }, repeatable: true, ...options });
  }
}

/** Returns the text of a time. A Date has the precision of the service, a millisecond. */
function timeOf(time) {
  return time instanceof Date ? time.toISOString() : time;
}
