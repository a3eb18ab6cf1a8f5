const QUEUES = { billing: 'finance', technical: 'engineering', other: 'support' };

// A function node of a workflow: it reads the output of the node "classify", and adds data for the following nodes
// to the context.
async function execute(input, context) {
  const classified = context.steps.classify?.output;
  if (!classified) {
    throw new Error('route_ticket runs after a node named "classify"');
  }
  const category = Object.hasOwn(QUEUES, classified.category) ? classified.category : 'other';
  const repeated = (await countTicket(category)) >= 3;

  context.queue = QUEUES[category];
  context.priority = classified.urgent || repeated ? 'high' : 'normal';
  return { queue: context.queue, priority: context.priority, repeated };
}

// countTicket counts a ticket of the user. A workflow may name the arguments of a memory call, as here.
async function countTicket(category) {
  const history = await memory.get_content({ memory_store_name: 'supportHistory', projections: { [`tickets.${category}`]: 1 } });
  const count = (history?.tickets?.[category] ?? 0) + 1;
  await memory.set_content({ memory_store_name: 'supportHistory', content: { tickets: { [category]: count } } });
  return count;
}
