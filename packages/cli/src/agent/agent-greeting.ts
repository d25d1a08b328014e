// Answers `initialize` from a cache before the agent is loaded, if request, code, settings and environment are the same.

import {
  fstatSync,
  mkdirSync,
  read,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { cachePath, configPath, credentialsPath } from "../settings/data-folder.ts";

/** The bytes that were already read, and the request that was already answered. */
export interface Greeting {
  readonly alreadyRead: Uint8Array | undefined;
  readonly answered: { readonly id: unknown; readonly result: string } | undefined;
  /** Caches the answer for the next start. */
  keep(params: unknown, result: unknown, files: readonly string[]): void;
}

interface Kept {
  readonly version: 1;
  /** Path, time and size of each code file. */
  readonly files: readonly (readonly [path: string, mtimeMs: number, size: number])[];
  /** A hash of settings and environment. */
  readonly facts: string;
  /** Results by the hash of the request. */
  readonly answers: Readonly<Record<string, string>>;
}

const maxAnswers = 8;
const firstReadBytes = 64 * 1024;
/** After this time the agent is loaded while waiting for the editor. */
const silenceMs = 50;

type Begun = Greeting & {
  readonly reading: Promise<Uint8Array | undefined>;
};

let begun: Begun | undefined;

/** Resolves when the client has its answer, or when the agent itself must answer. */
export async function beginGreeting(argv: readonly string[]): Promise<void> {
  const facts = factsOf(argv);
  const kept = readKept();
  const canAnswer = kept?.facts === facts && isPipe();
  const reading = canAnswer ? firstBytes() : Promise.resolve(undefined);
  const silence = Promise.withResolvers<undefined>();
  const timer = setTimeout(silence.resolve, silenceMs, undefined);
  const bytes = await Promise.race([reading, silence.promise]);
  clearTimeout(timer);
  const answered = bytes && kept ? answer(bytes, kept) : undefined;
  begun = { alreadyRead: bytes, answered, reading, keep: (...what) => keep(facts, ...what) };
}

export async function greeting(): Promise<Greeting> {
  if (begun === undefined) return { alreadyRead: undefined, answered: undefined, keep: () => undefined };
  return { ...begun, alreadyRead: begun.alreadyRead ?? (await begun.reading) };
}

function answer(bytes: Uint8Array, kept: Kept): Greeting["answered"] {
  const request = requestIn(bytes);
  if (request === undefined) return undefined;
  const result = kept.answers[hash(JSON.stringify(request.params))];
  if (result === undefined || !kept.files.every(isSame)) return undefined;
  const fd = Number(process.env["PARLEY_WIRE_FD"] ?? 1);
  writeSync(fd, `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":${result}}\n`);
  return { id: request.id, result };
}

/** The request, if the first line is a plain `initialize`. */
function requestIn(bytes: Uint8Array): { readonly id: unknown; readonly params: unknown } | undefined {
  const end = bytes.indexOf(0x0a);
  if (end < 0) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, end));
    const { jsonrpc, id, method, params } = JSON.parse(text) as Record<string, unknown>;
    const isPlain = typeof id === "string" ? id.length < 100 : Number.isSafeInteger(id);
    return jsonrpc === "2.0" && method === "initialize" && isPlain ? { id, params } : undefined;
  } catch {
    // the agent answers it
    return undefined;
  }
}

/** Only bytes from a pipe can be read here and passed on. */
function isPipe(): boolean {
  const stat = fstatSync(0);
  return stat.isFIFO() || stat.isSocket();
}

function firstBytes(): Promise<Uint8Array | undefined> {
  const buffer = new Uint8Array(firstReadBytes);
  return new Promise((resolve) => {
    // the agent handles the end of the input and errors
    read(0, buffer, 0, buffer.length, null, (error, length) =>
      resolve(error !== null || length === 0 ? undefined : buffer.subarray(0, length)),
    );
  });
}

/** Everything besides the request and the code that affects the answer. */
function factsOf(argv: readonly string[]): string {
  const config = textOf(configPath());
  const names = Object.keys(process.env).filter((name) => isOurs.test(name) || config.includes(name));
  const env = names.sort().map((name) => `${name}=${process.env[name]}`);
  const parts = [process.version, JSON.stringify(argv), config, stampOf(credentialsPath()), ...env];
  return hash(parts.join("\n"));
}

const isOurs = /^(?:PARLEY|ANTHROPIC|OPENAI|GOOGLE|GEMINI|OLLAMA)_/;

function readKept(): Kept | undefined {
  try {
    const kept = JSON.parse(readFileSync(cachePath("handshake.json"), "utf8")) as Kept;
    return kept.version === 1 && Array.isArray(kept.files) && typeof kept.answers === "object"
      ? kept
      : undefined;
  } catch {
    return undefined;
  }
}

function keep(facts: string, params: unknown, result: unknown, files: readonly string[]): void {
  const before = readKept();
  const stamps = files.flatMap((path) => stamp(path) ?? []);
  const known = before?.facts === facts && before.files.every(isSame) ? Object.entries(before.answers) : [];
  const answers = Object.fromEntries([
    ...known.slice(1 - maxAnswers),
    [hash(JSON.stringify(params)), JSON.stringify(result)],
  ]);
  const kept: Kept = { version: 1, files: stamps, facts, answers };
  const path = cachePath("handshake.json");
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // never leaves half a file
    writeFileSync(`${path}.${process.pid}`, JSON.stringify(kept), { mode: 0o600 });
    renameSync(`${path}.${process.pid}`, path);
  } catch {
    // a cache is optional
  }
}

function stamp(path: string): Kept["files"] {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? [] : [[path, stat.mtimeMs, stat.size]];
}

function isSame([path, mtimeMs, size]: Kept["files"][number]): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.mtimeMs === mtimeMs && stat.size === size;
}

function stampOf(path: string): string {
  return JSON.stringify(stamp(path));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Not cryptographic; cheaper than loading node:crypto. */
function hash(text: string): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return `${(a >>> 0).toString(36)}-${(b >>> 0).toString(36)}-${text.length.toString(36)}`;
}
