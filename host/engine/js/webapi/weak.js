'use strict';

// A run is short, and a tool cannot observe garbage collection. A reference keeps its target, and a
// registry never calls back.

const canBeHeld = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function'
  || (typeof value === 'symbol' && Symbol.keyFor(value) === undefined);

class WeakRef {
  #target;

  constructor(target) {
    if (!canBeHeld(target)) throw new TypeError('WeakRef: target must be an object');
    this.#target = target;
  }

  deref() { return this.#target; }
}

class FinalizationRegistry {
  #tokens = new Set();

  constructor(cleanup) {
    if (typeof cleanup !== 'function') throw new TypeError('FinalizationRegistry: cleanup must be callable');
  }

  register(target, held, token) {
    this.#tokens.size; // throws if this is not a registry
    if (!canBeHeld(target)) throw new TypeError('FinalizationRegistry.prototype.register: invalid target');
    if (Object.is(target, held)) {
      throw new TypeError('FinalizationRegistry.prototype.register: target and holdings must not be same');
    }
    if (canBeHeld(token)) this.#tokens.add(token);
    else if (token !== undefined) throw new TypeError(`Invalid unregisterToken ('${String(token)}')`);
  }

  unregister(token) {
    this.#tokens.size;
    if (!canBeHeld(token)) throw new TypeError(`Invalid unregisterToken ('${String(token)}')`);
    return this.#tokens.delete(token);
  }
}

for (const made of [WeakRef, FinalizationRegistry]) {
  Object.defineProperty(made.prototype, Symbol.toStringTag, { value: made.name, configurable: true });
}
Object.defineProperty(FinalizationRegistry.prototype.register, 'length', { value: 2, configurable: true });

exports.create = () => ({ WeakRef, FinalizationRegistry });
