'use strict';

// The maximum size of a request, as the specification defines it.
const MAX_BYTES = 65536;

exports.create = (host) => ({
  get keys() { return host.keys(); },
  crypto: {
    get subtle() { return host.keys().subtle; },

    getRandomValues(array) {
      if (!ArrayBuffer.isView(array) || array instanceof Float32Array || array instanceof Float64Array) {
        throw new TypeError('getRandomValues requires an array of integers');
      }
      if (array.byteLength > MAX_BYTES) throw new RangeError(`getRandomValues fills at most ${MAX_BYTES} bytes`);
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      bytes.set(new Uint8Array(host.random(array.byteLength)));
      return array;
    },

    randomUUID() {
      const bytes = new Uint8Array(host.random(16));
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    },
  },
});
