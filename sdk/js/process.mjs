// The process that implements the test double of memory. All tests in a Node.js process share one
// toolrun double process.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The error if the program toolrun cannot be started, or has ended. */
export class ToolrunError extends Error {}
ToolrunError.prototype.name = 'ToolrunError';

/**
 * A process of toolrun double. The first request starts it. The process does not keep Node running,
 * and ends when Node ends.
 */
export class Process {
  #child;
  #waiting = []; // the promises of the pending requests, in order

  /** Sends a request, whose members are JSON texts, and returns the reply. */
  request(members) {
    return new Promise((resolve, reject) => {
      const child = this.#started();
      this.#waiting.push({ resolve, reject });
      this.#keep(true);
      const line = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',');
      child.stdin.write(`{${line}}\n`);
    });
  }

  /** Closes an unreferenced memory. memory is its name as JSON. */
  forget(name) {
    if (this.#child) this.request({ do: '"close"', memory: name }).catch(() => {}); // the process has ended, so its memories are lost
  }

  #started() {
    if (this.#child) return this.#child;
    const program = process.env.TOOLRUN || 'toolrun';
    const child = spawn(program, ['double'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    child.on('error', (error) => this.#ended(child, notStarted(program, error)));
    child.on('close', (code, signal) => {
      this.#ended(child, new ToolrunError(`toolrun double ended with ${signal ?? `exit code ${code}`}; see the messages on standard error`));
    });
    child.stdin.on('error', () => {}); // the handler of close reports the reason
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#waiting.shift()?.resolve(JSON.parse(line));
      if (this.#waiting.length === 0) this.#keep(false);
    });
    return child;
  }

  /** Sets whether Node waits for the process. */
  #keep(wait) {
    for (const handle of [this.#child, this.#child?.stdin, this.#child?.stdout]) {
      if (wait) handle?.ref?.();
      else handle?.unref?.();
    }
  }

  #ended(child, error) {
    if (this.#child !== child) return;
    this.#child = undefined;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

function notStarted(program, error) {
  if (error.code !== 'ENOENT') return new ToolrunError(`cannot start toolrun double: ${error.message}`);
  if (process.env.TOOLRUN) {
    return new ToolrunError(`the variable TOOLRUN is ${JSON.stringify(program)}, which is not a program; set the variable to the path of toolrun`);
  }
  return new ToolrunError(
    'the program toolrun, which tests of tools require, is not on PATH; install toolrun, or set the variable TOOLRUN to its path');
}
