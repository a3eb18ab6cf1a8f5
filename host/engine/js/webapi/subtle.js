'use strict';

// The part of SubtleCrypto that needs only secret keys: digests and HMAC.

const HASHES = { 'sha-1': 'sha1', 'sha-256': 'sha256', 'sha-384': 'sha384', 'sha-512': 'sha512' };
const JWK_NAMES = { sha1: 'HS1', sha256: 'HS256', sha384: 'HS384', sha512: 'HS512' };
const BLOCKS = { sha1: 512, sha256: 512, sha384: 1024, sha512: 1024 };

function failure(name, message) {
  const error = new Error(message);
  error.name = name;
  return error;
}

function bytesOf(data) {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw new TypeError('the data must be an ArrayBuffer, a typed array or a DataView');
}

const nameOf = (algorithm) => String(typeof algorithm === 'object' && algorithm !== null ? algorithm.name : algorithm);

function hashOf(algorithm) {
  const hash = HASHES[nameOf(algorithm).toLowerCase()];
  if (hash) return hash;
  throw failure('NotSupportedError', `the digest ${nameOf(algorithm)} is not supported; use SHA-1, SHA-256, SHA-384 or SHA-512`);
}

function needHmac(algorithm) {
  if (nameOf(algorithm).toUpperCase() === 'HMAC') return;
  throw failure('NotSupportedError', `the algorithm ${nameOf(algorithm)} is not supported; use HMAC`);
}

exports.create = function create(host) {
  const secrets = new WeakMap();

  class CryptoKey {
    constructor(token, members) {
      if (token !== secrets) throw new TypeError('Illegal constructor');
      Object.assign(this, members);
      Object.freeze(this);
    }
  }

  const secretOf = (key, use) => {
    const secret = secrets.get(key);
    if (!secret) throw new TypeError('the key is not a CryptoKey');
    if (use && !key.usages.includes(use)) throw failure('InvalidAccessError', `the usages of the key do not include ${use}`);
    return secret;
  };

  function digest(state, data) {
    const bytes = bytesOf(data);
    state.update(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return state.digest();
  }

  function newKey(algorithm, secret, extractable, usages) {
    const list = [...usages];
    const wrong = list.find((usage) => usage !== 'sign' && usage !== 'verify');
    if (wrong || list.length === 0) throw failure('SyntaxError', 'the usages of an HMAC key must be sign or verify');
    const hash = nameOf(algorithm.hash).toUpperCase();
    const key = new CryptoKey(secrets, {
      type: 'secret', extractable: Boolean(extractable), usages: list,
      algorithm: { name: 'HMAC', length: secret.length * 8, hash: { name: hash } },
    });
    secrets.set(key, secret);
    return key;
  }

  function needFormat(format, value) {
    if (format === 'raw') return value;
    throw failure('NotSupportedError', `the format ${String(format)} is not supported; use raw or jwk`);
  }

  function fromJWK(key, algorithm) {
    if (typeof key !== 'object' || key === null || key.kty !== 'oct' || typeof key.k !== 'string') {
      throw failure('DataError', 'the key is not a JWK of type oct');
    }
    if (key.alg !== undefined && key.alg !== JWK_NAMES[hashOf(algorithm.hash)]) throw failure('DataError', 'the alg of the JWK does not match the hash of the algorithm');
    return new Uint8Array(host.buffer().Buffer.from(key.k, 'base64url'));
  }

  const mac = (key, data) => {
    const secret = secretOf(key);
    return digest(host.createHmac(hashOf(key.algorithm.hash), secret.buffer, 0, secret.byteLength), data);
  };

  const subtle = {
    async digest(algorithm, data) { return digest(host.createHash(hashOf(algorithm)), data); },

    async importKey(format, data, algorithm, extractable, usages) {
      needHmac(algorithm);
      hashOf(algorithm.hash);
      const secret = format === 'jwk' ? fromJWK(data, algorithm) : bytesOf(needFormat(format, data)).slice();
      if (secret.length === 0) throw failure('DataError', 'the key is empty');
      return newKey(algorithm, secret, extractable, usages);
    },

    async generateKey(algorithm, extractable, usages) {
      needHmac(algorithm);
      const bits = algorithm.length === undefined ? BLOCKS[hashOf(algorithm.hash)] : algorithm.length;
      if (!(bits > 0 && bits <= 65536)) throw failure('OperationError', 'the length of the key is out of range');
      return newKey(algorithm, new Uint8Array(host.random(Math.ceil(bits / 8))), extractable, usages);
    },

    async exportKey(format, key) {
      const secret = secretOf(key);
      if (!key.extractable) throw failure('InvalidAccessError', 'the key is not extractable');
      if (format !== 'jwk') return needFormat(format, secret.slice().buffer);
      const k = host.buffer().Buffer.from(secret).toString('base64url');
      return { key_ops: [...key.usages], ext: true, kty: 'oct', k, alg: JWK_NAMES[hashOf(key.algorithm.hash)] };
    },

    async sign(algorithm, key, data) {
      needHmac(algorithm);
      secretOf(key, 'sign');
      return mac(key, data);
    },

    async verify(algorithm, key, signature, data) {
      needHmac(algorithm);
      secretOf(key, 'verify');
      const given = bytesOf(signature);
      const made = mac(key, data);
      return given.byteLength === made.byteLength
        && host.equal(given.buffer, given.byteOffset, given.byteLength, made, 0, made.byteLength);
    },
  };
  return { subtle, CryptoKey, secretOf };
};
