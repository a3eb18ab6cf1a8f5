'use strict';

// The methods of Buffer that read and write numbers.

const coded = (error, code) => Object.assign(error, { code });

function checkOffset(buffer, offset, size) {
  if (typeof offset !== 'number') {
    throw coded(new TypeError(`The "offset" argument must be of type number. Received type ${typeof offset}`), 'ERR_INVALID_ARG_TYPE');
  }
  if (!Number.isInteger(offset)) {
    throw coded(new RangeError(`The value of "offset" is out of range. It must be an integer. Received ${offset}`), 'ERR_OUT_OF_RANGE');
  }
  if (offset < 0 || offset + size > buffer.length) {
    if (size > buffer.length) throw coded(new RangeError('Attempt to access memory outside buffer bounds'), 'ERR_BUFFER_OUT_OF_BOUNDS');
    throw coded(new RangeError(`The value of "offset" is out of range. It must be >= 0 and <= ${buffer.length - size}. Received ${offset}`),
      'ERR_OUT_OF_RANGE');
  }
}

const view = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);

function checkValue(value, least, most) {
  if (value > most || value < least) {
    throw coded(new RangeError(`The value of "value" is out of range. It must be >= ${least} and <= ${most}. Received ${String(value)}`),
      'ERR_OUT_OF_RANGE');
  }
}

const methods = {};

// The number types: the name in Node.js, the name in DataView, the size in bytes, and the bounds of
// the values.
for (const [name, kind, size, least, most] of [
  ['UInt8', 'Uint8', 1, 0, 0xff], ['Int8', 'Int8', 1, -0x80, 0x7f],
  ['UInt16', 'Uint16', 2, 0, 0xffff], ['Int16', 'Int16', 2, -0x8000, 0x7fff],
  ['UInt32', 'Uint32', 4, 0, 0xffffffff], ['Int32', 'Int32', 4, -0x80000000, 0x7fffffff],
  ['Float', 'Float32', 4], ['Double', 'Float64', 8],
  ['BigUInt64', 'BigUint64', 8, 0n, 0xffffffffffffffffn], ['BigInt64', 'BigInt64', 8, -0x8000000000000000n, 0x7fffffffffffffffn],
]) {
  for (const end of size === 1 ? [''] : ['LE', 'BE']) {
    methods[`read${name}${end}`] = function read(offset = 0) {
      checkOffset(this, offset, size);
      return view(this)[`get${kind}`](offset, end === 'LE');
    };
    methods[`write${name}${end}`] = function write(value, offset = 0) {
      if (least !== undefined) checkValue(value, least, most);
      checkOffset(this, offset, size);
      view(this)[`set${kind}`](offset, value, end === 'LE');
      return offset + size;
    };
  }
}

function checkSize(size) {
  if (!(Number.isInteger(size) && size >= 1 && size <= 6)) {
    throw coded(new RangeError(`The value of "byteLength" is out of range. It must be >= 1 and <= 6. Received ${size}`), 'ERR_OUT_OF_RANGE');
  }
}

for (const end of ['LE', 'BE']) {
  const place = (offset, size, i) => (end === 'BE' ? offset + i : offset + size - 1 - i);
  methods[`readUInt${end}`] = function readUInt(offset, size) {
    checkSize(size);
    checkOffset(this, offset, size);
    let value = 0;
    for (let i = 0; i < size; i++) value = value * 256 + this[place(offset, size, i)];
    return value;
  };
  methods[`readInt${end}`] = function readInt(offset, size) {
    const value = this[`readUInt${end}`](offset, size);
    return value < 2 ** (8 * size - 1) ? value : value - 2 ** (8 * size);
  };
  const write = (buffer, value, offset, size) => {
    checkOffset(buffer, offset, size);
    let rest = value;
    for (let i = size - 1; i >= 0; i--) {
      buffer[place(offset, size, i)] = rest;
      rest = Math.floor(rest / 256);
    }
    return offset + size;
  };
  methods[`writeUInt${end}`] = function writeUInt(value, offset, size) {
    checkSize(size);
    checkValue(value, 0, 2 ** (8 * size) - 1);
    return write(this, value, offset, size);
  };
  methods[`writeInt${end}`] = function writeInt(value, offset, size) {
    checkSize(size);
    checkValue(value, -(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1);
    return write(this, value < 0 ? value + 2 ** (8 * size) : value, offset, size);
  };
}

for (const name of Object.keys(methods)) {
  if (name.includes('UInt')) methods[name.replace('UInt', 'Uint')] = methods[name];
}

exports.methods = methods;
