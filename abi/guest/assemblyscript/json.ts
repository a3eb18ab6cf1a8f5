// Just enough JSON (RFC 8259): to find a value in a document without a tree of it, and to write one. A raw value is
// the text of a value as it stands in the document. Nothing recurses, so a deep document costs no stack.
//
// Readers look at no character outside of their text; of a text that is no JSON they make some sense or none.

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

// charAt is -1 at the end.
function charAt(json: string, i: i32): i32 {
  return i < json.length ? json.charCodeAt(i) : -1;
}

function skipSpace(json: string, i: i32): i32 {
  while (isSpace(charAt(json, i))) i++;
  return i;
}

// stringEnd is where the string that begins at i ends, behind its quote.
function stringEnd(json: string, i: i32): i32 {
  for (i++; i < json.length; i++) {
    const c = json.charCodeAt(i);
    if (c == QUOTE) return i + 1;
    if (c == BACKSLASH) i++;
  }
  return json.length;
}

// valueEnd is where the value that begins at i ends: at a comma or a bracket that is not its own.
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
 * Walk goes through an object or an array; in any other value there are no steps.
 *
 *   const walk = new Walk(json);
 *   while (walk.next()) use(walk.name, walk.value);
 */
export class Walk {
  /** The member's name; "" in an array. */
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

  /** next goes to the next step; false where there is none. */
  next(): bool {
    const json = this.json;
    // Before a step is the bracket that opened the whole, or a comma.
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

/** member is the raw value of a member, the last one of that name; null where there is none. */
export function member(object: string | null, name: string): string | null {
  let found: string | null = null;
  if (charAt(object === null ? "" : object.trimStart(), 0) != 0x7b) return found;
  const walk = new Walk(object);
  while (walk.next()) {
    if (walk.name == name) found = walk.value;
  }
  return found;
}

/** text decodes a JSON string; null where the value is none. */
export function text(json: string | null): string | null {
  if (json === null) return null;
  const raw = json.trim();
  return raw.length >= 2 && charAt(raw, 0) == QUOTE && stringEnd(raw, 0) == raw.length ? unquote(raw) : null;
}

/** number reads a JSON number; NaN where the value is none. Whole ones are exact up to 2^53. */
export function number(json: string | null): f64 {
  if (json === null) return NaN;
  const raw = json.trim();
  const first = charAt(raw, 0) == 0x2d ? charAt(raw, 1) : charAt(raw, 0); // -
  return first >= 0x30 && first <= 0x39 ? parseFloat(raw) : NaN;
}

/** isTrue tells whether a value is true. */
export function isTrue(json: string | null): bool {
  return json !== null && json.trim() == "true";
}

/** isNull tells whether a value is null or missing. */
export function isNull(json: string | null): bool {
  return json === null || json.trim() == "null";
}

// unquote decodes a string with its quotes. Half a surrogate pair stays as it is: UTF-16 can say it.
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

// hex4 reads the four digits of an escape; U+FFFD where they are none.
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

/** quote makes a JSON string of a text. Half a surrogate pair is written as an escape, as JSON.stringify does. */
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
