'use strict';

/**
 * The error of a rejected memory call. Its code identifies the cause and is stable; its message may
 * change.
 */
class MemoryAccessError extends Error {
  // Fields are definitions: an assignment could call a setter on Object.prototype.
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

// On the prototype, as in the built-in errors: printing an error would show an own property.
MemoryAccessError.prototype.name = 'MemoryAccessError';

exports.MemoryAccessError = MemoryAccessError;
