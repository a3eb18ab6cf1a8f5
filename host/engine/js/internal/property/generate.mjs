// Writes properties.txt.gz, which contains the Unicode properties of regular expressions. The data
// is generated from the tables of the Node.js that runs this script. The aliases are in npm
// packages:
//
//   npm install --no-save unicode-property-value-aliases-ecmascript unicode-property-aliases-ecmascript
//   node generate.mjs
//
// Each line contains a list of names, a tab, and ranges. A range is the distance from the end of
// the previous range and the number of further code points, both in base 36.
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const require = createRequire(import.meta.url);
const values = require('unicode-property-value-aliases-ecmascript');
const aliases = require('unicode-property-aliases-ecmascript');

const LAST = 0x10ffff;
const points = [];
for (let c = 0; c <= LAST; c++) if (c < 0xd800 || c > 0xdfff) points.push(String.fromCodePoint(c));
const text = points.join('');

// rangesOf returns sorted [first, last] pairs.
function rangesOf(expression) {
  const found = [];
  const all = new RegExp(`\\p{${expression}}+`, 'gu');
  for (const match of text.matchAll(all)) {
    const first = match[0].codePointAt(0);
    const tail = match[0].slice(-2);
    const last = tail.length === 2 && tail.codePointAt(0) > 0xffff ? tail.codePointAt(0) : match[0].charCodeAt(match[0].length - 1);
    if (first < 0xd800 && last > 0xdfff) found.push([first, 0xd7ff], [0xe000, last]);
    else found.push([first, last]);
  }
  if (new RegExp(`^\\p{${expression}}$`, 'u').test('\ud800')) found.push([0xd800, 0xdfff]);
  found.sort((a, b) => a[0] - b[0]);
  return found.reduce((list, range) => {
    const before = list[list.length - 1];
    if (before && before[1] + 1 === range[0]) before[1] = range[1];
    else list.push([...range]);
    return list;
  }, []);
}

function line(names, ranges) {
  let at = 0;
  const numbers = [];
  for (const [first, last] of ranges) {
    numbers.push((first - at).toString(36), (last - first).toString(36));
    at = last;
  }
  return `${names.join(' ')}\t${numbers.join(' ')}\n`;
}

// byName returns the names of each value of a property. The first name is the canonical name.
function byName(property) {
  const names = new Map();
  for (const [alias, name] of values.get(property)) {
    if (!names.has(name)) names.set(name, [name]);
    if (alias !== name) names.get(name).push(alias);
  }
  return names;
}

const binary = `ASCII_Hex_Digit Alphabetic Any Assigned ASCII Bidi_Control Bidi_Mirrored Case_Ignorable Cased
Changes_When_Casefolded Changes_When_Casemapped Changes_When_Lowercased Changes_When_NFKC_Casefolded
Changes_When_Titlecased Changes_When_Uppercased Dash Default_Ignorable_Code_Point Deprecated Diacritic Emoji
Emoji_Component Emoji_Modifier Emoji_Modifier_Base Emoji_Presentation Extended_Pictographic Extender Grapheme_Base
Grapheme_Extend Hex_Digit IDS_Binary_Operator IDS_Trinary_Operator ID_Continue ID_Start Ideographic Join_Control
Logical_Order_Exception Lowercase Math Noncharacter_Code_Point Pattern_Syntax Pattern_White_Space Quotation_Mark
Radical Regional_Indicator Sentence_Terminal Soft_Dotted Terminal_Punctuation Unified_Ideograph Uppercase
Variation_Selector White_Space XID_Continue XID_Start`.split(/\s+/);

let out = `# Unicode ${process.versions.unicode}\n`;
for (const name of binary) {
  const short = [...aliases].filter(([, long]) => long === name).map(([alias]) => alias).filter((alias) => alias !== name);
  const usable = short.filter((alias) => { try { return new RegExp(`\\p{${alias}}`, 'u'); } catch { return false; } });
  out += line([name, ...usable], rangesOf(name));
}
for (const [name, names] of byName('General_Category')) {
  out += line(names.map((n) => `gc=${n}`), rangesOf(`gc=${name}`));
}
for (const property of ['sc', 'scx']) {
  for (const [name, names] of byName('Script')) {
    let ranges;
    try {
      ranges = rangesOf(`${property}=${name}`);
    } catch {
      continue; // newer than this Node.js
    }
    out += line(names.map((n) => `${property}=${n}`), ranges);
  }
}
writeFileSync(new URL('properties.txt.gz', import.meta.url), gzipSync(out, { level: 9 }));
