'use strict';

exports.create = function create(host) {
  class TextEncoder {
    get encoding() { return 'utf-8'; }

    encode(text = '') {
      return new Uint8Array(host.toUTF8(String(text)));
    }

    encodeInto(text, target) {
      let written = 0;
      let read = 0;
      for (const character of String(text)) {
        const bytes = this.encode(character);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  }

  class TextDecoder {
    #fatal;
    #keepMark;

    constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
      if (!/^\s*(utf-?8|unicode-1-1-utf-8)\s*$/i.test(label)) {
        throw new RangeError(`the encoding ${label} is not supported; use utf-8`);
      }
      this.#fatal = Boolean(fatal);
      this.#keepMark = Boolean(ignoreBOM);
    }

    get encoding() { return 'utf-8'; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#keepMark; }

    decode(bytes, { stream = false } = {}) {
      if (stream) throw new TypeError('TextDecoder does not support the option stream');
      if (bytes === undefined) return '';
      const view = ArrayBuffer.isView(bytes)
        ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        : new Uint8Array(bytes);
      const text = host.fromUTF8(view.slice().buffer, this.#fatal);
      if (text === null) throw new TypeError('the bytes are not valid UTF-8');
      return this.#keepMark || text.charCodeAt(0) !== 0xfeff ? text : text.slice(1);
    }
  }

  const invalid = (message) => {
    const error = new Error(message);
    error.name = 'InvalidCharacterError';
    return error;
  };

  return {
    TextEncoder,
    TextDecoder,
    btoa(text) {
      const encoded = host.btoa(String(text));
      if (encoded === null) throw invalid('btoa accepts only characters up to U+00FF; use TextEncoder for others');
      return encoded;
    },
    atob(text) {
      const decoded = host.atob(String(text));
      if (decoded === null) throw invalid('the string is not valid base64');
      return decoded;
    },
  };
};
