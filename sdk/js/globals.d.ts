// The globals of a tool in addition to the globals of ES2023. The additional globals are a subset
// of the web APIs. The types do not require the DOM library, which declares globals that tools do
// not have, such as fetch, document and localStorage. If a program includes the DOM library, its
// declarations apply. These types cannot be combined with the types of Node.js.

/** The console, which writes to the logs of the run. */
interface Console {
  assert(condition?: unknown, ...data: any[]): void;
  count(label?: string): void;
  countReset(label?: string): void;
  debug(...data: any[]): void;
  dir(item?: any, options?: any): void;
  error(...data: any[]): void;
  group(...data: any[]): void;
  groupCollapsed(...data: any[]): void;
  groupEnd(): void;
  info(...data: any[]): void;
  log(...data: any[]): void;
  table(data?: any, properties?: string[]): void;
  time(label?: string): void;
  timeEnd(label?: string): void;
  timeLog(label?: string, ...data: any[]): void;
  trace(...data: any[]): void;
  warn(...data: any[]): void;
}
declare var console: Console;

/** Timers end with the run. Waiting for them counts as time of the run. */
declare function setTimeout(callback: (...args: any[]) => void, milliseconds?: number, ...args: any[]): any;
declare function setInterval(callback: (...args: any[]) => void, milliseconds?: number, ...args: any[]): any;
declare function setImmediate(callback: (...args: any[]) => void, ...args: any[]): any;
declare function clearTimeout(timer: any): void;
declare function clearInterval(timer: any): void;
declare function clearImmediate(timer: any): void;
declare function queueMicrotask(callback: () => void): void;

/** Returns a deep copy of a value; functions are rejected. */
declare function structuredClone<T = any>(value: T, options?: any): T;
/** Decodes base64 to a string of bytes. */
declare function atob(data: string): string;
/** Encodes a string of bytes as base64. */
declare function btoa(data: string): string;

interface ToolURL {
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: ToolURLSearchParams;
  username: string;
  toString(): string;
  toJSON(): string;
}

interface ToolURLSearchParams extends Iterable<[string, string]> {
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(callback: (value: string, name: string, all: ToolURLSearchParams) => void, thisArg?: any): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  toString(): string;
}

interface ToolTextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}

interface ToolTextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}

interface ToolCrypto {
  /** Fills the array with random bytes and returns it. */
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
  /** Digests, and keys for HMAC. */
  readonly subtle: {
    digest(algorithm: string | { name: string }, data: ArrayBuffer | ArrayBufferView): Promise<ArrayBuffer>;
    importKey(format: 'raw' | 'jwk', key: any, algorithm: any, extractable: boolean, usages: readonly string[]): Promise<any>;
    generateKey(algorithm: any, extractable: boolean, usages: readonly string[]): Promise<any>;
    exportKey(format: 'raw' | 'jwk', key: any): Promise<any>;
    sign(algorithm: any, key: any, data: ArrayBuffer | ArrayBufferView): Promise<ArrayBuffer>;
    verify(algorithm: any, key: any, signature: ArrayBuffer | ArrayBufferView, data: ArrayBuffer | ArrayBufferView): Promise<boolean>;
  };
}

interface ToolPerformance {
  /** Returns the milliseconds since the run began. */
  now(): number;
  readonly timeOrigin: number;
}

// The DOM library also declares these globals. If a program includes the DOM library, its
// declarations apply.
declare var URL: typeof globalThis extends { onmessage: any; URL: infer T } ? T : {
  new (url: string | ToolURL, base?: string | ToolURL): ToolURL;
  readonly prototype: ToolURL;
  canParse(url: string | ToolURL, base?: string | ToolURL): boolean;
};
declare var URLSearchParams: typeof globalThis extends { onmessage: any; URLSearchParams: infer T } ? T : {
  new (init?: string | Iterable<[string, string]> | { [name: string]: string } | ToolURLSearchParams): ToolURLSearchParams;
  readonly prototype: ToolURLSearchParams;
};
declare var TextEncoder: typeof globalThis extends { onmessage: any; TextEncoder: infer T } ? T : {
  new (): ToolTextEncoder;
  readonly prototype: ToolTextEncoder;
};
declare var TextDecoder: typeof globalThis extends { onmessage: any; TextDecoder: infer T } ? T : {
  new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): ToolTextDecoder;
  readonly prototype: ToolTextDecoder;
};
declare var crypto: typeof globalThis extends { onmessage: any; crypto: infer T } ? T : ToolCrypto;
declare var performance: typeof globalThis extends { onmessage: any; performance: infer T } ? T : ToolPerformance;

// Partial types of the Node.js modules that tools can import.

declare module 'crypto' {
  type Bytes = string | ArrayBuffer | ArrayBufferView;
  type Encoding = 'hex' | 'base64' | 'base64url' | 'latin1' | 'utf8';

  export interface Hash {
    update(data: Bytes, encoding?: string): Hash;
    digest(): import('./index.js').ToolBuffer;
    digest(encoding: Encoding): string;
    copy(): Hash;
  }
  export interface Hmac {
    update(data: Bytes, encoding?: string): Hmac;
    digest(): import('./index.js').ToolBuffer;
    digest(encoding: Encoding): string;
  }
  /** md5, sha1, sha224, sha256, sha384, sha512 or sha512-256. */
  export function createHash(algorithm: string): Hash;
  export function createHmac(algorithm: string, key: Bytes): Hmac;
  export function getHashes(): string[];
  /** At most 1 MiB. */
  export function randomBytes(size: number): import('./index.js').ToolBuffer;
  export function randomInt(max: number): number;
  export function randomInt(min: number, max: number): number;
  export function randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
  export function timingSafeEqual(a: ArrayBuffer | ArrayBufferView, b: ArrayBuffer | ArrayBufferView): boolean;
}
declare module 'node:crypto' {
  export * from 'crypto';
}
declare module 'buffer' {
  export const Buffer: import('./index.js').ToolBufferConstructor;
}
declare module 'node:buffer' {
  export * from 'buffer';
}
