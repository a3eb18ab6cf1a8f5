'use strict';

const { coded, wrongType } = require('./buffer.js');

const MAX_RANDOM = 1 << 20;

exports.create = function create(host) {
  const { Buffer } = host.buffer();
  const web = host.crypto();

  function bytesOf(value, encoding, name) {
    if (typeof value === 'string') return Buffer.from(value, encoding);
    if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    if (value instanceof ArrayBuffer) return Buffer.from(value);
    throw wrongType(name, 'of type string or an instance of Buffer, TypedArray, or DataView', value);
  }

  const answer = (bytes, encoding) => {
    const buffer = Buffer.from(bytes);
    return encoding && encoding !== 'buffer' ? buffer.toString(encoding) : buffer;
  };

  // Digest is the base class of Hash and Hmac. The host holds its state.
  class Digest {
    #state;
    #done = false;

    constructor(state) { this.#state = state; }

    update(data, encoding) {
      if (this.#done) throw coded(new Error('Digest already called'), 'ERR_CRYPTO_HASH_FINALIZED');
      const bytes = bytesOf(data, encoding, 'data');
      this.#state.update(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return this;
    }

    digest(encoding) {
      if (this.#done) throw coded(new Error('Digest already called'), 'ERR_CRYPTO_HASH_FINALIZED');
      this.#done = true;
      return answer(this.#state.digest(), encoding);
    }

    _copy() {
      if (this.#done) throw coded(new Error('Digest already called'), 'ERR_CRYPTO_HASH_FINALIZED');
      return this.#state.copy();
    }
  }

  class Hash extends Digest {
    copy() { return new Hash(this._copy()); }
  }
  class Hmac extends Digest {}

  function named(name) {
    if (typeof name !== 'string') throw wrongType('algorithm', 'of type string', name);
    return name;
  }

  function random(size) {
    if (typeof size !== 'number') throw wrongType('size', 'of type number', size);
    if (!(Number.isInteger(size) && size >= 0 && size <= MAX_RANDOM)) {
      throw coded(new RangeError(`The value of "size" is out of range. It must be >= 0 && <= ${MAX_RANDOM}. Received ${size}`), 'ERR_OUT_OF_RANGE');
    }
    return Buffer.from(host.random(size));
  }

  // later passes a result to a callback asynchronously, as Node.js does.
  const later = (callback, make) => {
    const value = make();
    if (callback === undefined) return value;
    Promise.resolve().then(() => { callback(null, value); });
    return undefined;
  };

  const crypto = {
    createHash(name) {
      const state = host.createHash(named(name));
      if (!state) throw coded(new Error('Digest method not supported'), 'ERR_CRYPTO_INVALID_DIGEST');
      return new Hash(state);
    },
    createHmac(name, key) {
      named(name);
      const secret = key instanceof web.keys.CryptoKey ? web.keys.secretOf(key) : bytesOf(key, 'utf8', 'key');
      const state = host.createHmac(name, secret.buffer, secret.byteOffset, secret.byteLength);
      if (!state) throw coded(new Error(`Invalid digest: ${name}`), 'ERR_CRYPTO_INVALID_DIGEST');
      return new Hmac(state);
    },
    getHashes: () => ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha512-256'],
    hash(name, data, encoding = 'hex') { return crypto.createHash(name).update(data).digest(encoding); },

    randomBytes: (size, callback) => later(callback, () => random(size)),
    randomFillSync(target, offset = 0, size = target.byteLength - offset) {
      new Uint8Array(target.buffer || target, (target.byteOffset || 0) + offset, size).set(random(size));
      return target;
    },
    randomInt(least, most, callback) {
      if (most === undefined || typeof most === 'function') return crypto.randomInt(0, least, most);
      if (!Number.isSafeInteger(least)) throw wrongType('min', 'a safe integer', least);
      if (!Number.isSafeInteger(most)) throw wrongType('max', 'a safe integer', most);
      const span = most - least;
      if (!(span > 0 && span < 2 ** 48)) {
        throw coded(new RangeError(`The value of "max" is out of range. It must be greater than the value of "min" (${least}). Received ${most}`),
          'ERR_OUT_OF_RANGE');
      }
      return later(callback, () => {
        const limit = 2 ** 48 - (2 ** 48 % span);
        for (;;) {
          const n = random(6).readUIntBE(0, 6);
          if (n < limit) return least + (n % span);
        }
      });
    },
    randomUUID: () => web.crypto.randomUUID(),

    timingSafeEqual(a, b) {
      for (const [name, value] of [['buf1', a], ['buf2', b]]) {
        if (!ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer)) {
          throw wrongType(name, 'an instance of ArrayBuffer, Buffer, TypedArray, or DataView', value);
        }
      }
      if (a.byteLength !== b.byteLength) {
        throw coded(new RangeError('Input buffers must have the same byte length'), 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH');
      }
      const [x, y] = [bytesOf(a), bytesOf(b)];
      return host.equal(x.buffer, x.byteOffset, x.byteLength, y.buffer, y.byteOffset, y.byteLength);
    },

    Hash,
    Hmac,
    webcrypto: web.crypto,
    subtle: web.crypto.subtle,
    getRandomValues: (array) => web.crypto.getRandomValues(array),
  };
  return crypto;
};
