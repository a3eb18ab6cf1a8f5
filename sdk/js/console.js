'use strict';

// isPlain reports whether the arguments can be formatted by joining them. Most log lines are plain.
// Loading the module that formats all other lines costs several times as much.
function isPlain(args) {
  for (let i = 0; i < args.length; i++) {
    const type = typeof args[i];
    if (type !== 'string' && type !== 'number' && type !== 'boolean') return false;
  }
  return args.length < 2 || typeof args[0] !== 'string' || !args[0].includes('%');
}

/**
 * Creates the console of a tool. host.log(level, text) writes a line; the optional
 * host.stackOf(error) returns an error's stack with positions in the author's files; host.now() is
 * a clock in milliseconds.
 */
exports.createConsole = function createConsole(host) {
  const stackOf = host.stackOf || ((error) => error.stack);
  let indent = '';
  const counts = { __proto__: null };
  const timers = { __proto__: null };

  const write = (level, args, tail = '') => {
    const text = isPlain(args) ? args.join(' ') : require('./format.js').format(args, stackOf);
    host.log(level, indent + text + tail);
  };
  const elapsed = (label, args) => {
    if (!(label in timers)) return;
    write('info', [`${label}: ${(host.now() - timers[label]).toFixed(3)}ms`, ...args]);
  };

  const console = {
    log: (...args) => write('info', args),
    info: (...args) => write('info', args),
    warn: (...args) => write('warn', args),
    error: (...args) => write('error', args),
    debug: (...args) => write('debug', args),
    trace: (...args) => {
      const frames = String(stackOf(new Error())).split('\n').slice(1).join('\n');
      write('debug', args.length > 0 ? ['Trace:', ...args] : ['Trace'], `\n${frames}`);
    },
    dir: (value) => write('info', [value]),
    table: (value) => write('info', [value]),
    assert: (ok, ...args) => {
      if (!ok) write('error', args.length > 0 ? ['Assertion failed:', ...args] : ['Assertion failed']);
    },
    group: (...args) => {
      if (args.length > 0) write('info', args);
      if (indent.length < 40) indent += '  ';
    },
    groupEnd: () => {
      indent = indent.slice(2);
    },
    count: (label = 'default') => {
      counts[label] = (counts[label] || 0) + 1;
      write('info', [`${label}: ${counts[label]}`]);
    },
    countReset: (label = 'default') => {
      delete counts[label];
    },
    time: (label = 'default') => {
      timers[label] = host.now();
    },
    timeLog: (label = 'default', ...args) => elapsed(label, args),
    timeEnd: (label = 'default') => {
      elapsed(label, []);
      delete timers[label];
    },
  };
  console.groupCollapsed = console.group;
  return console;
};
