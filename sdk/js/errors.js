'use strict';

/**
 * The error of a rejected memory call. Its code identifies the cause and is stable. Its message can
 * change.
 */
class MemoryAccessError extends Error {
  // Class fields define properties. An assignment could instead call a setter on Object.prototype.
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

// The name is on the prototype, as in built-in errors: as an own property, it would be shown when
// the error is printed.
MemoryAccessError.prototype.name = 'MemoryAccessError';

exports.MemoryAccessError = MemoryAccessError;
