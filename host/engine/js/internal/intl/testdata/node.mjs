// Computes the results of Node for test cases of Intl. Reads one JSON object per line and writes one JSON text per line:
//   {"kind": "NumberFormat", "locale": "de", "options": {}, "value": 1.5}
// The result is [text, parts, resolved options], or {error: name}.
import { createInterface } from 'node:readline';

process.env.TZ = 'UTC';

// Numbers that JSON cannot represent are strings.
const special = { NaN, Infinity, '-Infinity': -Infinity, '-0': -0 };
const number = (v) => (v in special ? special[v] : v);

const kinds = {
  NumberFormat({ locale, options, value }) {
    const f = new Intl.NumberFormat(locale, options);
    return [f.format(number(value)), f.formatToParts(number(value)), f.resolvedOptions()];
  },
  DateTimeFormat({ locale, options, value }) {
    const f = new Intl.DateTimeFormat(locale, options);
    return [f.format(value), f.formatToParts(value), f.resolvedOptions()];
  },
  toLocaleString: ({ locale, options, value }) => [new Date(value).toLocaleString(locale, options)],
  toLocaleDateString: ({ locale, options, value }) => [new Date(value).toLocaleDateString(locale, options)],
  toLocaleTimeString: ({ locale, options, value }) => [new Date(value).toLocaleTimeString(locale, options)],
  PluralRules({ locale, options, value }) {
    const f = new Intl.PluralRules(locale, options);
    return [f.select(number(value)), [], f.resolvedOptions()];
  },
  RelativeTimeFormat({ locale, options, value, unit }) {
    const f = new Intl.RelativeTimeFormat(locale, options);
    return [f.format(number(value), unit), f.formatToParts(number(value), unit), f.resolvedOptions()];
  },
  ListFormat({ locale, options, value }) {
    const f = new Intl.ListFormat(locale, options);
    return [f.format(value), f.formatToParts(value), f.resolvedOptions()];
  },
  Collator({ locale, options, value }) {
    const f = new Intl.Collator(locale, options);
    return [String(Math.sign(f.compare(...value))), [], f.resolvedOptions()];
  },
  Casing: ({ locale, value: [text] }) => [text.toLocaleUpperCase(locale) + '|' + text.toLocaleLowerCase(locale)],
  Tag: ({ locale }) => [Intl.getCanonicalLocales(locale)[0]],
};

for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  let answer;
  try {
    answer = kinds[c.kind](c);
  } catch (e) {
    answer = { error: e.name };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
