// A minimal JSON reader and writer (RFC 8259). The reader finds values in a document without
// building a tree. A raw value is the part of the document's text that represents one value. No
// function is recursive, so a deeply nested document cannot overflow the stack.
//
// The functions never read outside of the text. If the text is not valid JSON, the result is
// unspecified.

const QUOTE: i32 = 0x22, BACKSLASH: i32 = 0x5c, COMMA: i32 = 0x2c, COLON: i32 = 0x3a;

function isSpace(c: i32): bool {
  return c == 0x20 || c == 0x09 || c == 0x0a || c == 0x0d;
}

function isOpen(c: i32): bool {
  return c == 0x7b || c == 0x5b; // { [
}

function isClose(c: i32): bool {
  return c == 0x7d || c == 0x5d; // } ]
}

// charAt returns a UTF-16 unit, or -1 at the end.
function charAt(json: string, i: i32): i32 {
  return i < json.length ? json.charCodeAt(i) : -1;
}

function skipSpace(json: string, i: i32): i32 {
  while (isSpace(charAt(json, i))) i++;
  return i;
}

// stringEnd returns the index after the closing quote of the string that begins at i.
function stringEnd(json: string, i: i32): i32 {
  for (i++; i < json.length; i++) {
    const c = json.charCodeAt(i);
    if (c == QUOTE) return i + 1;
    if (c == BACKSLASH) i++;
  }
  return json.length;
}

// valueEnd returns the index after the value that begins at i.
function valueEnd(json: string, i: i32): i32 {
  let depth = 0;
  while (i < json.length) {
    const c = json.charCodeAt(i);
    if (c == QUOTE) {
      i = stringEnd(json, i);
      continue;
    }
    if (depth == 0 && (c == COMMA || isClose(c))) return i;
    if (isOpen(c)) depth++;
    if (isClose(c)) depth--;
    i++;
  }
  return i;
}

/**
 * Walk iterates over an object or an array. For any other value, there are no iterations.
 *
 *   const walk = new Walk(json);
 *   while (walk.next()) use(walk.name, walk.value);
 */
export class Walk {
  /** The name of the member, or "" in an array. */
  name: string = "";
  /** The raw value. */
  value: string = "";
  private json: string;
  private at: i32;

  constructor(json: string | null) {
    this.json = json === null ? "" : json;
    const start = skipSpace(this.json, 0);
    this.at = isOpen(charAt(this.json, start)) ? start : this.json.length;
  }

  /** next advances to the next member or element. next returns false at the end. */
  next(): bool {
    const json = this.json;
    // Each iteration begins after the opening bracket or after a comma.
    let i = skipSpace(json, this.at + 1);
    if (i >= json.length || isClose(charAt(json, i))) return false;
    this.name = "";
    if (charAt(json, i) == QUOTE) {
      const end = stringEnd(json, i);
      const colon = skipSpace(json, end);
      if (charAt(json, colon) == COLON) {
        this.name = unquote(json.substring(i, end));
        i = skipSpace(json, colon + 1);
      }
    }
    this.at = valueEnd(json, i);
    this.value = json.substring(i, this.at).trim();
    return true;
  }
}

/** member returns the raw value of the last member with the given name, or null. */
export function member(object: string | null, name: string): string | null {
  let found: string | null = null;
  if (charAt(object === null ? "" : object.trimStart(), 0) != 0x7b) return found;
  const walk = new Walk(object);
  while (walk.next()) {
    if (walk.name == name) found = walk.value;
  }
  return found;
}

/** text decodes a JSON string. text returns null for any other value. */
export function text(json: string | null): string | null {
  if (json === null) return null;
  const raw = json.trim();
  return raw.length >= 2 && charAt(raw, 0) == QUOTE && stringEnd(raw, 0) == raw.length ? unquote(raw) : null;
}

/** number decodes a JSON number, or returns NaN. Integers are exact up to 2^53. */
export function number(json: string | null): f64 {
  if (json === null) return NaN;
  const raw = json.trim();
  const first = charAt(raw, 0) == 0x2d ? charAt(raw, 1) : charAt(raw, 0); // -
  return first >= 0x30 && first <= 0x39 ? parseFloat(raw) : NaN;
}

/** isTrue reports whether a value is true. */
export function isTrue(json: string | null): bool {
  return json !== null && json.trim() == "true";
}

/** isNull reports whether a value is null or missing. */
export function isNull(json: string | null): bool {
  return json === null || json.trim() == "null";
}

// unquote decodes a string literal, including its quotes. unquote keeps lone surrogates, which are
// possible in UTF-16.
function unquote(raw: string): string {
  const end = raw.length - 1;
  let out = "";
  let done = 1;
  for (let i = raw.indexOf("\\"); i >= 0 && i < end; i = raw.indexOf("\\", done)) {
    out += raw.substring(done, i);
    const c = charAt(raw, i + 1);
    if (c == 0x75) { // u
      out += String.fromCharCode(hex4(raw, i + 2));
      done = min(i + 6, end);
    } else {
      out += unescape(c);
      done = min(i + 2, end);
    }
  }
  return out + raw.substring(done, end);
}

function unescape(c: i32): string {
  switch (c) {
    case 0x62: return "\b";
    case 0x66: return "\f";
    case 0x6e: return "\n";
    case 0x72: return "\r";
    case 0x74: return "\t";
  }
  return String.fromCharCode(c);
}

// hex4 reads the four digits of an escape. hex4 returns U+FFFD if they are not hexadecimal digits.
function hex4(raw: string, i: i32): i32 {
  let code = 0;
  for (let end = i + 4; i < end; i++) {
    const c = charAt(raw, i) | 0x20;
    const digit = c >= 0x30 && c <= 0x39 ? c - 0x30 : c >= 0x61 && c <= 0x66 ? c - 0x57 : -1;
    if (digit < 0) return 0xfffd;
    code = (code << 4) | digit;
  }
  return code;
}

/** quote encodes a text as a JSON string. quote escapes lone surrogates, like JSON.stringify. */
export function quote(value: string): string {
  let out = '"';
  let done = 0;
  for (let i = 0; i < value.length; i++) {
    const c = value.charCodeAt(i);
    if (isPair(value, i)) {
      i++;
      continue;
    }
    if (c >= 0x20 && c != QUOTE && c != BACKSLASH && (c < 0xd800 || c > 0xdfff)) continue;
    out += value.substring(done, i) + (c == QUOTE || c == BACKSLASH ? "\\" + value.charAt(i) : escape(c));
    done = i + 1;
  }
  return out + value.substring(done) + '"';
}

function isPair(value: string, i: i32): bool {
  return (charAt(value, i) & 0xfc00) == 0xd800 && (charAt(value, i + 1) & 0xfc00) == 0xdc00;
}

function escape(c: i32): string {
  return "\\u" + c.toString(16).padStart(4, "0");
}
