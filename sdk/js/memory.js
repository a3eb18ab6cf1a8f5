'use strict';

// A module that every run with a memory call evaluates: it counts its loops by hand and makes nothing that
// no call needs, since iterators and built-in objects cost a fresh runtime more than the call itself.

/**
 * Makes a tool's memory from the table of operations.
 *
 * host.call(name, args) performs an operation and returns its reply, or throws a MemoryAccessError;
 * host.refuse(name, message) throws the one that says that the call itself is malformed.
 *
 * A call acts when it is made, not when it is awaited: an async function runs up to its first await at once,
 * and these have none. What it answers is a promise that has already settled.
 */
exports.createMemory = function createMemory(operations, host) {
  const memory = {};
  for (let i = 0; i < operations.length; i++) {
    const operation = operations[i];
    const { name } = operation;
    memory[name] = {
      async [name](...args) {
        return host.call(name, arrange(operation, args, host));
      },
    }[name];
  }
  return memory;
};

// arrange puts the arguments of a call into the order of the operation's parameters.
function arrange({ name, params }, args, host) {
  if (args.length > params.length) {
    host.refuse(name, `takes at most ${params.length} arguments, not ${args.length}`);
  }
  const named = args[0];
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return args;
  if (args.length > 1) {
    host.refuse(name, 'takes either arguments by place or one object of named arguments, not both');
  }
  return arrangeNamed(name, params, named, host);
}

function arrangeNamed(name, params, named, host) {
  const args = new Array(params.length).fill(undefined);
  for (const key of Object.keys(named)) {
    const place = params.findIndex((p) => p.name === key || (p.aliases || []).includes(key));
    if (place < 0) {
      const known = params.map((p) => p.name).join(', ');
      host.refuse(name, `has no argument named ${JSON.stringify(key.slice(0, 64))}; its arguments are ${known}`);
    }
    if (args[place] !== undefined) {
      host.refuse(name, `got its argument ${params[place].name} under two names`);
    }
    args[place] = named[key];
  }
  return args;
}
