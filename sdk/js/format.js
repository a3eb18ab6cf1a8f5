'use strict';

// The limits on a logged value: nesting depth, items per container, and characters.
const MAX_DEPTH = 2;
const MAX_ITEMS = 100;
const MAX_CHARS = 10000;

/** Formats the arguments of a console call as one text, like Node.js, and never throws. */
exports.format = function format(args, stackOf = (error) => error.stack) {
  const budget = { chars: MAX_CHARS, stackOf };
  let from = 0;
  let text = '';
  if (typeof args[0] === 'string') {
    [text, from] = fillIn(args, budget);
  }
  for (let i = from; i < args.length && budget.chars > 0; i++) {
    text += (i > 0 ? ' ' : '') + show(args[i], budget);
  }
  return text;
};

// fillIn replaces placeholders such as %s in the first argument. fillIn returns the text and the
// number of arguments that it has used.
function fillIn(args, budget) {
  let next = 1;
  const text = args[0].replace(/%[sdifjoOc%]/g, (token) => {
    if (token === '%%') return args.length > 1 ? '%' : token;
    if (next >= args.length) return token;
    const value = args[next++];
    switch (token) {
      case '%d': return asNumber(value, Number);
      case '%i': return asNumber(value, parseInt);
      case '%f': return asNumber(value, parseFloat);
      case '%j': return asJSON(value);
      case '%c': return '';
      case '%s': return typeof value === 'object' || typeof value === 'function' ? quote(value, budget) : show(value, budget);
      default: return quote(value, budget);
    }
  });
  return [text, next];
}

function asNumber(value, parse) {
  if (typeof value === 'bigint') return `${value}n`;
  return typeof value === 'symbol' || typeof value === 'object' ? 'NaN' : String(parse(value));
}

function asJSON(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return '[Circular]';
  }
}

// show formats an argument of console.log. Unlike nested strings, it has no quotes.
function show(value, budget) {
  if (typeof value !== 'string') return quote(value, budget);
  budget.chars -= value.length;
  return value;
}

// quote formats a nested value. A proxy or a getter can throw at any point.
function quote(value, budget) {
  try {
    return inspect(value, budget, []);
  } catch {
    return '[unprintable]';
  }
}

function inspect(value, budget, parents) {
  if (budget.chars <= 0) return '…';
  const text = typeof value === 'object' && value !== null
    ? inspectObject(value, budget, parents)
    : inspectPrimitive(value);
  // A container counts only its own brackets, because its members have already been counted.
  budget.chars -= typeof value === 'object' && value !== null ? 4 : text.length;
  return text;
}

function inspectPrimitive(value) {
  switch (typeof value) {
    case 'string': return quoteString(value);
    case 'bigint': return `${value}n`;
    case 'symbol': return value.toString();
    case 'number': return Object.is(value, -0) ? '-0' : String(value);
    case 'function': return inspectFunction(value);
    default: return String(value);
  }
}

function quoteString(text) {
  const cut = text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
  const mark = ["'", '"', '`'].find((m) => !cut.includes(m)) || "'";
  const escaped = JSON.stringify(cut).slice(1, -1).replace(/\\"/g, '"');
  return mark + (mark === "'" ? escaped.replace(/'/g, "\\'") : escaped) + mark;
}

function inspectFunction(fn) {
  const kind = /^class\b/.test(Function.prototype.toString.call(fn)) ? 'class' : 'Function';
  const name = typeof fn.name === 'string' && fn.name;
  if (kind === 'class') return `[class ${name || '(anonymous)'}]`;
  return name ? `[Function: ${name}]` : '[Function (anonymous)]';
}

function inspectObject(object, budget, parents) {
  if (parents.includes(object)) return '[Circular]';
  const leaf = inspectLeaf(object, budget);
  if (leaf !== undefined && (object instanceof String || Object.keys(object).length === 0)) return leaf;

  const name = classOf(object);
  if (parents.length > MAX_DEPTH) return `[${name || 'Object'}]`;
  parents.push(object);
  const list = Array.isArray(object) || ArrayBuffer.isView(object);
  const parts = [
    ...(list ? listItems(object, budget, parents) : []),
    ...entries(object, budget, parents),
    ...members(object, list, budget, parents),
  ];
  parents.pop();
  return wrap(leaf === undefined ? label(object, name) : `${leaf} `, list ? '[]' : '{}', parts);
}

// inspectLeaf formats objects without members. inspectLeaf returns undefined for all other values.
function inspectLeaf(object, budget) {
  if (object instanceof Error) return inspectError(object, budget);
  if (object instanceof Date) return Number.isNaN(object.getTime()) ? 'Invalid Date' : object.toISOString();
  if (object instanceof RegExp) return String(object);
  if (object instanceof String || object instanceof Number || object instanceof Boolean) {
    return `[${classOf(object)}: ${inspectPrimitive(object.valueOf())}]`;
  }
  return undefined;
}

function inspectError(error, budget) {
  const stack = budget.stackOf(error);
  const head = `${error.name}: ${error.message}`;
  const text = typeof stack === 'string' && stack !== '' ? stack.trimEnd() : `[${head}]`;
  budget.chars -= text.length;
  return text;
}

function classOf(object) {
  const proto = Object.getPrototypeOf(object);
  if (proto === null) return '[Object: null prototype]';
  const { constructor } = proto;
  return typeof constructor === 'function' && typeof constructor.name === 'string' ? constructor.name : '';
}

// label returns the text before the opening bracket. label returns "" for plain objects and arrays.
function label(object, name) {
  if (name === '' || name === 'Object' || name === 'Array') return '';
  if (object instanceof Map || object instanceof Set) return `${name}(${object.size}) `;
  return ArrayBuffer.isView(object) && object.length !== undefined ? `${name}(${object.length}) ` : `${name} `;
}

function listItems(list, budget, parents) {
  const items = [];
  for (let i = 0; i < list.length && i < MAX_ITEMS && budget.chars > 0; i++) {
    items.push(i in list ? inspect(list[i], budget, parents) : '<empty>');
  }
  return cut(items, list.length - items.length);
}

function entries(object, budget, parents) {
  if (!(object instanceof Map || object instanceof Set)) return [];
  const items = [];
  for (const [key, value] of object.entries()) {
    if (items.length >= MAX_ITEMS || budget.chars <= 0) break;
    const text = inspect(value, budget, parents);
    items.push(object instanceof Map ? `${inspect(key, budget, parents)} => ${text}` : text);
  }
  return cut(items, object.size - items.length);
}

function members(object, list, budget, parents) {
  if (list && object.length > MAX_ITEMS) return []; // searching for names among many indexes is slow
  let keys = Object.keys(object);
  if (list) keys = keys.filter((key) => !/^\d+$/.test(key));
  const items = [];
  for (const key of keys) {
    if (items.length >= MAX_ITEMS || budget.chars <= 0) break;
    const property = Object.getOwnPropertyDescriptor(object, key);
    if (property === undefined) continue;
    const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoteString(key);
    budget.chars -= name.length;
    // A getter is shown but not called, because logging must not change the behavior of a tool.
    items.push(`${name}: ${property.get || property.set ? '[Getter]' : inspect(property.value, budget, parents)}`);
  }
  return cut(items, keys.length - items.length);
}

function cut(items, more) {
  return more > 0 ? [...items, `... ${more} more item${more > 1 ? 's' : ''}`] : items;
}

function wrap(prefix, brackets, parts) {
  if (parts.length === 0) return prefix + brackets;
  return `${prefix}${brackets[0]} ${parts.join(', ')} ${brackets[1]}`;
}
