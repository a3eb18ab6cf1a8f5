'use strict';

/**
 * Creates the memory of a tool from the table of operations.
 *
 * host.call(name, args) performs an operation and returns its reply, or throws a MemoryAccessError;
 * host.refuse(name, message) throws the error for a malformed call.
 *
 * A call takes effect immediately, not when it is awaited: an async function runs synchronously up to its first await, and these functions have none. The returned promise is already settled.
 *
 * The argument "of" selects the operations of another module, such as "model". Their names have the
 * name of the module as a prefix.
 */
exports.createMemory = function createMemory(operations, host, of) {
  const made = {};
  for (const { name, params, module } of operations) {
    if ((module || undefined) !== of) continue;
    const refuse = (message) => host.refuse(name, message);
    const own = module ? name.slice(module.length + 1) : name;
    made[own] = {
      async [own](...args) {
        return host.call(name, exports.arrange(params, args, refuse));
      },
    }[own];
  }
  return made;
};

/**
 * Returns the arguments of a call in the order of the operation's parameters. The arguments can be
 * a single object of named arguments. refuse(message) throws.
 */
exports.arrange = function arrange(params, args, refuse) {
  if (args.length > params.length) {
    refuse(`takes at most ${params.length} arguments, not ${args.length}`);
  }
  const named = args[0];
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return args;
  if (args.length > 1) {
    refuse('takes either positional arguments or one object of named arguments, not both');
  }
  return arrangeNamed(params, named, refuse);
};

function arrangeNamed(params, named, refuse) {
  const args = new Array(params.length).fill(undefined);
  for (const key of Object.keys(named)) {
    const place = params.findIndex((p) => p.name === key || (p.aliases || []).includes(key));
    if (place < 0) {
      const known = params.map((p) => p.name).join(', ');
      const shown = key.length > 64 ? `${key.slice(0, 64)}…` : key;
      refuse(`has no argument named ${JSON.stringify(shown)}; the names of the arguments are ${known}`);
    }
    if (args[place] !== undefined) {
      refuse(`received the argument ${params[place].name} under two names`);
    }
    args[place] = named[key];
  }
  return args;
}
