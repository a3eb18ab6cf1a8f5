'use strict';

const ENCODINGS = {
  __proto__: null,
  utf8: 'utf8', 'utf-8': 'utf8', hex: 'hex', base64: 'base64', base64url: 'base64url', ascii: 'ascii',
  latin1: 'latin1', binary: 'latin1', ucs2: 'utf16le', 'ucs-2': 'utf16le', utf16le: 'utf16le', 'utf-16le': 'utf16le',
};

const known = (encoding) => ENCODINGS[encoding] || ENCODINGS[String(encoding).toLowerCase()];

function encodingOf(encoding) {
  if (encoding === undefined || encoding === null || encoding === '') return 'utf8';
  const name = known(encoding);
  if (name) return name;
  throw coded(new TypeError(`Unknown encoding: ${encoding}`), 'ERR_UNKNOWN_ENCODING');
}

function coded(error, code) {
  error.code = code;
  return error;
}

function described(value) {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value === 'string') return `type string ('${value.length > 28 ? `${value.slice(0, 25)}...` : value}')`;
  if (typeof value !== 'object') return `type ${typeof value} (${String(value)}${typeof value === 'bigint' ? 'n' : ''})`;
  return `an instance of ${value.constructor && value.constructor.name ? value.constructor.name : 'Object'}`;
}

const wrongType = (name, wanted, value) => coded(
  new TypeError(`The "${name}" argument must be ${wanted}. Received ${described(value)}`), 'ERR_INVALID_ARG_TYPE');

const outOfRange = (name, wanted, value) => coded(
  new RangeError(`The value of "${name}" is out of range. It must be ${wanted}. Received ${String(value)}`), 'ERR_OUT_OF_RANGE');

const isBytes = (value) => value instanceof Uint8Array;
const viewOf = (value) => (isBytes(value) ? value : new Uint8Array(value.buffer, value.byteOffset, value.byteLength));

// clamped converts a position as slice does.
function clamped(value, size, fallback) {
  if (value === undefined) return fallback;
  const n = Math.trunc(Number(value)) || 0;
  return n < 0 ? Math.max(0, size + n) : Math.min(n, size);
}

exports.described = described;
exports.coded = coded;
exports.wrongType = wrongType;

exports.create = function create(host) {
  class Bytes extends Uint8Array {}

  /** A buffer of bytes, as in Node.js. */
  function Buffer(value, encoding, length) {
    return typeof value === 'number' ? Buffer.alloc(value) : Buffer.from(value, encoding, length);
  }
  Object.setPrototypeOf(Buffer, Uint8Array);
  Buffer.prototype = Bytes.prototype;
  Object.defineProperty(Bytes.prototype, 'constructor', { value: Buffer, writable: true, configurable: true });

  const wrap = (buffer) => new Bytes(buffer);
  const encode = (text, encoding) => wrap(host.encode(text, encodingOf(encoding)));
  const decode = (view, encoding) => host.decode(view.buffer, view.byteOffset, view.byteLength, encoding);

  // bytesOf converts a string or bytes.
  function bytesOf(value, encoding, name) {
    if (typeof value === 'string') return encode(value, encoding);
    if (ArrayBuffer.isView(value)) return viewOf(value);
    throw wrongType(name, 'one of type string, Buffer, or Uint8Array', value);
  }

  function sized(size) {
    if (typeof size !== 'number') throw wrongType('size', 'of type number', size);
    if (!(size >= 0 && size <= 0x7fffffff)) throw outOfRange('size', '>= 0 && <= 2147483647', size);
    return new Bytes(size);
  }

  function fromObject(value) {
    if (value.type === 'Buffer' && Array.isArray(value.data)) return Bytes.from(value.data);
    if (typeof value.length === 'number' || typeof value[Symbol.iterator] === 'function') return Bytes.from(value);
    if (typeof value.length === 'object') return new Bytes(0);
    return undefined;
  }

  Object.assign(Buffer, {
    poolSize: 8192,

    from(value, encoding, length) {
      if (typeof value === 'string') return encode(value, encoding);
      if (typeof value === 'object' && value !== null) {
        if (value instanceof ArrayBuffer) return new Bytes(value, encoding, length);
        if (ArrayBuffer.isView(value) && isBytes(value)) return new Bytes(value);
        const plain = typeof value.valueOf === 'function' ? value.valueOf() : value;
        if (plain !== null && plain !== undefined && plain !== value && (typeof plain === 'string' || typeof plain === 'object')) {
          return Buffer.from(plain, encoding, length);
        }
        const made = fromObject(value);
        if (made) return made;
        if (typeof value[Symbol.toPrimitive] === 'function') {
          const text = value[Symbol.toPrimitive]('string');
          if (typeof text === 'string') return encode(text, encoding);
        }
      }
      throw coded(new TypeError('The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an '
        + `Array-like Object. Received ${described(value)}`), 'ERR_INVALID_ARG_TYPE');
    },

    alloc(size, fill, encoding) {
      const made = sized(size);
      return fill === undefined || fill === 0 || size === 0 ? made : made.fill(fill, encoding);
    },
    allocUnsafe: sized,
    allocUnsafeSlow: sized,

    concat(list, length) {
      if (!Array.isArray(list)) throw wrongType('list', 'an instance of Array', list);
      const total = length === undefined ? list.reduce((sum, item) => sum + item.length, 0) : length;
      const made = sized(total);
      let at = 0;
      list.forEach((item, i) => {
        if (!isBytes(item)) throw wrongType(`list[${i}]`, 'an instance of Buffer or Uint8Array', item);
        if (at >= total) return;
        made.set(item.length > total - at ? item.subarray(0, total - at) : item, at);
        at += item.length;
      });
      return made;
    },

    isBuffer: (value) => value instanceof Bytes,
    isEncoding: (encoding) => typeof encoding === 'string' && known(encoding) !== undefined,

    byteLength(value, encoding) {
      if (typeof value === 'string') return host.encode(value, known(encoding) || 'utf8').byteLength;
      if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
      throw wrongType('string', 'of type string or an instance of Buffer or ArrayBuffer', value);
    },

    compare(a, b) {
      if (!isBytes(a)) throw wrongType('buf1', 'an instance of Buffer or Uint8Array', a);
      if (!isBytes(b)) throw wrongType('buf2', 'an instance of Buffer or Uint8Array', b);
      const most = Math.min(a.length, b.length);
      for (let i = 0; i < most; i++) {
        if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
      }
      return Math.sign(a.length - b.length);
    },
  });
  for (const name of Object.keys(Buffer)) {
    Object.defineProperty(Buffer, name, { enumerable: false });
  }

  const methods = {
    toString(encoding, start, end) {
      const name = encodingOf(encoding);
      const from = start > 0 ? Math.min(Math.trunc(start), this.length) : 0;
      const to = end === undefined ? this.length : Math.min(Math.trunc(end) || 0, this.length);
      return to <= from ? '' : host.decode(this.buffer, this.byteOffset + from, to - from, name);
    },
    toLocaleString(encoding, start, end) { return this.toString(encoding, start, end); },
    toJSON() { return { type: 'Buffer', data: Array.from(this) }; },

    equals(other) {
      if (!isBytes(other)) throw wrongType('otherBuffer', 'an instance of Buffer or Uint8Array', other);
      return Buffer.compare(this, other) === 0;
    },
    compare(target, targetStart = 0, targetEnd = target.length, start = 0, end = this.length) {
      if (!isBytes(target)) throw wrongType('target', 'an instance of Buffer or Uint8Array', target);
      return Buffer.compare(this.subarray(start, end), target.subarray(targetStart, targetEnd));
    },

    subarray(start, end) {
      const from = clamped(start, this.length, 0);
      const to = clamped(end, this.length, this.length);
      return new Bytes(this.buffer, this.byteOffset + from, Math.max(0, to - from));
    },
    slice(start, end) { return this.subarray(start, end); },

    indexOf(value, offset, encoding) { return search(this, value, offset, encoding, false); },
    lastIndexOf(value, offset, encoding) { return search(this, value, offset, encoding, true); },
    includes(value, offset, encoding) { return search(this, value, offset, encoding, false) >= 0; },

    copy(target, targetStart = 0, start = 0, end = this.length) {
      if (!isBytes(target)) throw wrongType('target', 'an instance of Buffer or Uint8Array', target);
      if (targetStart >= target.length || start >= end) return 0;
      const source = this.subarray(start, Math.min(end, start + target.length - targetStart));
      target.set(source, targetStart);
      return source.length;
    },

    fill(value, offset, end, encoding) {
      if (typeof offset === 'string') return this.fill(value, 0, this.length, offset);
      if (typeof end === 'string') return this.fill(value, offset, this.length, end);
      const from = offset === undefined ? 0 : offset;
      const to = end === undefined ? this.length : end;
      if (from < 0 || to > this.length) throw outOfRange(from < 0 ? 'offset' : 'end', `>= 0 && <= ${this.length}`, from < 0 ? from : to);
      if (typeof value === 'string' || ArrayBuffer.isView(value)) {
        const bytes = value === '' ? new Bytes(1) : bytesOf(value, encoding, 'value');
        if (bytes.length === 0) {
          throw coded(new TypeError(`The argument 'value' is invalid. Received ${described(value)}`), 'ERR_INVALID_ARG_VALUE');
        }
        for (let i = from; i < to; i += bytes.length) this.set(bytes.length > to - i ? bytes.subarray(0, to - i) : bytes, i);
        return this;
      }
      Uint8Array.prototype.fill.call(this, Number(value) & 255, from, to);
      return this;
    },

    write(text, offset, length, encoding) {
      if (typeof text !== 'string') throw wrongType('argument', 'of type string', text);
      if (typeof offset === 'string') return this.write(text, 0, this.length, offset);
      if (typeof length === 'string') return this.write(text, offset, undefined, length);
      const from = offset === undefined ? 0 : offset;
      if (from < 0 || from > this.length) throw outOfRange('offset', `>= 0 && <= ${this.length}`, offset);
      const room = Math.min(length === undefined ? this.length : length, this.length - from);
      const name = encodingOf(encoding);
      let bytes = encode(text, name);
      if (bytes.length > room) {
        let cut = room;
        while (name === 'utf8' && cut > 0 && (bytes[cut] & 0xc0) === 0x80) cut--; // never splits a character
        bytes = bytes.subarray(0, cut);
      }
      this.set(bytes, from);
      return bytes.length;
    },

    swap16() { return swap(this, 2); },
    swap32() { return swap(this, 4); },
    swap64() { return swap(this, 8); },
  };

  function search(buffer, value, offset, encoding, last) {
    if (typeof offset === 'string') return search(buffer, value, undefined, offset, last);
    let needle = value;
    if (typeof value === 'number') needle = new Bytes([value]);
    else needle = bytesOf(value, encoding, 'value');
    const size = buffer.length;
    let from = Number(offset);
    if (Number.isNaN(from)) from = last ? size : 0;
    from = Math.trunc(from);
    if (from < 0) from += size;
    if (from < 0) {
      if (last) return -1;
      from = 0;
    }
    return host.find(buffer.buffer, buffer.byteOffset, size, needle.buffer, needle.byteOffset, needle.byteLength, Math.min(from, size), last);
  }

  function swap(buffer, size) {
    if (buffer.length % size !== 0) {
      throw coded(new RangeError(`Buffer size must be a multiple of ${size * 8}-bits`), 'ERR_INVALID_BUFFER_SIZE');
    }
    for (let i = 0; i < buffer.length; i += size) buffer.subarray(i, i + size).reverse();
    return buffer;
  }

  Object.assign(methods, require('./numbers.js').methods);
  for (const name of Object.keys(methods)) {
    Object.defineProperty(Bytes.prototype, name, { value: methods[name], writable: true, configurable: true });
  }
  Object.defineProperty(Bytes.prototype, 'parent', { get() { return this.buffer; }, configurable: true });
  return { Buffer, decode };
};
