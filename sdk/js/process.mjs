// The process that keeps the memory of tests: toolrun double, one for all tests of a Node process.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The program toolrun cannot be started, or it has ended. */
export class ToolrunError extends Error {}
ToolrunError.prototype.name = 'ToolrunError';

/** A process of toolrun double, which the first request starts. It does not keep Node from ending, and ends with it. */
export class Process {
  #child;
  #waiting = []; // of those whose replies are to come, in the order of their requests

  /** Makes a request, whose members are texts of JSON. Answers the reply. */
  request(members) {
    return new Promise((resolve, reject) => {
      const child = this.#started();
      this.#waiting.push({ resolve, reject });
      this.#keep(true);
      const line = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',');
      child.stdin.write(`{${line}}\n`);
    });
  }

  /** Closes a memory that nothing refers to any more, a name as JSON. */
  forget(name) {
    if (this.#child) this.request({ do: '"close"', memory: name }).catch(() => {}); // it ended with its memories
  }

  #started() {
    if (this.#child) return this.#child;
    const program = process.env.TOOLRUN || 'toolrun';
    const child = spawn(program, ['double'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    child.on('error', (error) => this.#ended(child, notStarted(program, error)));
    child.on('close', (code, signal) => {
      this.#ended(child, new ToolrunError(`toolrun double ended with ${signal ?? `exit code ${code}`}; its last words are on standard error`));
    });
    child.stdin.on('error', () => {}); // the end says why
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#waiting.shift()?.resolve(JSON.parse(line));
      if (this.#waiting.length === 0) this.#keep(false);
    });
    return child;
  }

  /** Has Node wait for the process, or not. */
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
  if (error.code !== 'ENOENT') return new ToolrunError(`toolrun double cannot be started: ${error.message}`);
  if (process.env.TOOLRUN) {
    return new ToolrunError(`TOOLRUN is ${JSON.stringify(program)}, which is not a program; set it to the path of toolrun`);
  }
  return new ToolrunError(
    'the program toolrun is not on PATH, and tests of tools need it for their memory; install toolrun, or set the variable TOOLRUN to its path');
}
