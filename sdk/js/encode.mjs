// Encodes values as JSON by the rules of toolrun: a value that JSON.stringify would drop or convert
// to null is an error.

const ADVICE = new Map([
  [Map, 'is a Map; use Object.fromEntries(map)'],
  [Set, 'is a Set; use [...set]'],
  [Promise, 'is a promise; is an await missing?'],
  [ArrayBuffer, 'is an ArrayBuffer; use [...new Uint8Array(buffer)]'],
  [RegExp, 'is a RegExp; use its source'],
  [Error, 'is an Error; use its message'],
  [Date, 'is an invalid Date'], // toJSON has already converted a valid Date
]);

const MAX_NESTING = 100;

/**
 * The error for a value that JSON cannot represent. deep reports whether only its nesting is wrong.
 */
export class Unfit extends Error {
  constructor(message, deep = false) {
    super(message);
    this.deep = deep;
  }
}

/**
 * Encodes a value; the result is undefined for undefined. Paths in errors begin with name. strict
 * lists members that must not be undefined, as in the table of operations.
 */
export function encode(value, name, strict = []) {
  return write(value, name, [], strict);
}

function write(given, path, parents, strict) {
  const value = typeof given?.toJSON === 'function' && !isInvalidDate(given) ? given.toJSON() : given;
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return text(value, path);
  if (value === undefined) return undefined;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return JSON.stringify(value);
    throw new Unfit(`${path} is ${Number.isNaN(value) ? 'NaN' : 'infinite'}`);
  }
  refuseType(value, path);
  if (parents.includes(value)) throw new Unfit(`${path} contains itself`);
  if (parents.length >= MAX_NESTING) throw new Unfit(`${path} is nested deeper than ${MAX_NESTING} levels`, true);
  const within = [...parents, value];
  const inside = strict.includes('');
  if (Array.isArray(value)) {
    return `[${Array.from(value, (item, i) => defined(write(item, `${path}[${i}]`, within, strict), `${path}[${i}]`, inside) ?? 'null').join(',')}]`;
  }
  const members = Object.keys(value).map((key) => {
    const place = /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
    const below = inside || strict.includes(key) || strict.includes(`${key}.*`) ? [''] : [];
    const member = defined(write(value[key], place, within, below), place, inside || strict.includes(key));
    return member === undefined ? undefined : `${text(key, path)}:${member}`;
  });
  return `{${members.filter((member) => member !== undefined).join(',')}}`;
}

/** Returns an encoded value. Throws if it is undefined and must not be. */
function defined(encoded, path, required) {
  if (encoded === undefined && required) throw new Unfit(`${path} is undefined`);
  return encoded;
}

function isInvalidDate(value) {
  return value instanceof Date && Number.isNaN(value.getTime());
}

function text(value, path) {
  if (!/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(value)) return JSON.stringify(value);
  throw new Unfit(`${path} contains an unpaired surrogate`);
}

function refuseType(value, path) {
  if (typeof value === 'bigint') throw new Unfit(`${path} is a BigInt; use a number, or String(...)`);
  if (typeof value !== 'object') throw new Unfit(`${path} is a ${typeof value}`);
  if (ArrayBuffer.isView(value)) throw new Unfit(`${path} is a typed array; use [...array]`);
  for (const [type, what] of ADVICE) {
    if (value instanceof type) throw new Unfit(`${path} ${what}`);
  }
}
