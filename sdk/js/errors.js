'use strict';

/** What a refused memory call throws. Its code tells what happened and never changes; its message may. */
class MemoryAccessError extends Error {
  // Fields are defined where assignments would end in a setter that someone put on Object.prototype.
  code;
  op;
  store;
  item;
  violations;
  hint;

  constructor(message, { code, op, store, item, violations = [], hint } = {}) {
    super(message);
    this.code = code;
    this.op = op;
    this.store = store;
    this.item = item;
    this.violations = violations;
    this.hint = hint;
  }
}

// On the prototype, as the built-in errors have it: an own property would show up when an error is printed.
MemoryAccessError.prototype.name = 'MemoryAccessError';

exports.MemoryAccessError = MemoryAccessError;
