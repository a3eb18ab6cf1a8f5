const QUEUES = { billing: 'finance', technical: 'engineering', other: 'support' };

// This tool is a function node of a workflow. The tool reads the output of the node "classify" and
// adds data for later nodes to the context.
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

// countTicket increments the number of the user's tickets. Arguments of a memory call can also be
// named, as in this function.
async function countTicket(category) {
  const history = await memory.get_content({ memory_store_name: 'supportHistory', projections: { [`tickets.${category}`]: 1 } });
  const count = (history?.tickets?.[category] ?? 0) + 1;
  await memory.set_content({ memory_store_name: 'supportHistory', content: { tickets: { [category]: count } } });
  return count;
}
