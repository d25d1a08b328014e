// Finds the files of a workspace that an entry of .mcp.json starts or names, and their content: it is part of what is trusted.

import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isObject } from "@parley/acp/jsonrpc";

/** A file of the workspace that a server runs or reads. */
export interface NamedFile {
  /** With links resolved. */
  readonly path: string;
  /** As it is in the folder. */
  readonly name: string;
  /** A hash of the content. */
  readonly hash: string;
  /** Only its `scripts` are hashed. All else in it changes often, so it stays writable. */
  readonly isScripts?: true;
}

/** What of an entry may name files. */
interface Entry {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: readonly { readonly value: string }[] | undefined;
}

const mostWords = 500;
const mostFiles = 50;
/** More of a file is not read. Its size counts. */
const maxBytes = 64 * 2 ** 20;
/** What interpreters start where a folder is named. */
const inFolders = "package.json index.js index.mjs index.cjs index.ts main.js __main__.py __init__.py".split(
  " ",
);

/** Node and its like find a file by its name without the ending. */
const endings = ".js .mjs .cjs .json .node .ts .mts .cts .tsx .jsx".split(" ");
/** They start what is in a folder that they are given. */
const interpreter = /(?:^|[\\/])(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*)(?:\.exe)?$/;
/** They run the scripts of package.json by their names. */
const scriptRunner = /(?:^|[\\/\s;&|])(?:npm|pnpm|yarn|bun|npx|pnpx|bunx|corepack)(?:\.cmd)?(?=$|\s)/;

/** The files below the folder that the words of an entry name, those that exist. */
export function namedFiles({ command = "", args = [], env = [] }: Entry, folder: string): NamedFile[] {
  const values = [...args, ...env.map(({ value }) => value)];
  const words = [
    ...(/[\\/]/.test(command) ? [command] : []),
    ...values.flatMap((value) => [value, ...value.split(/[\s=:,;'"()]+/)]),
    ...args.flatMap((word, at) => (args[at - 1] === "-m" ? modulesOf(word) : [])),
  ];
  const found = new Map<string, NamedFile>();
  // to other programs the folder itself is where they work
  const startsFolder = interpreter.test(command);
  for (const word of [...new Set(words)].slice(0, mostWords)) {
    for (const path of filesAt(word, folder, startsFolder)) {
      if (found.has(path) || found.size === mostFiles) continue;
      const real = realpathSync(path);
      const hash = hashOf(real);
      if (hash !== undefined) found.set(path, { path: real, name: relative(folder, path), hash });
    }
  }
  const runsScripts = [command, ...args].some((word) => scriptRunner.test(word));
  const scripts = runsScripts ? scriptsIn(folder) : [];
  return [...found.values(), ...scripts.filter(({ name }) => !found.has(join(folder, name)))];
}

/** The scripts of the package that the folder is. */
function scriptsIn(folder: string): NamedFile[] {
  const name = "package.json";
  const parsed = packageAt(join(folder, name));
  if (parsed === undefined) return [];
  const hash = createHash("sha256").update(JSON.stringify(parsed["scripts"] ?? {}));
  return [{ path: join(folder, name), name, hash: hash.digest("hex"), isScripts: true }];
}

/** Undefined: there is none that can be read. */
function packageAt(path: string): Readonly<Record<string, unknown>> | undefined {
  if (factsOf(path)?.isFile() !== true) return undefined;
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** `python -m a.b`. */
function modulesOf(word: string): string[] {
  const path = word.replaceAll(".", "/");
  return [`${path}.py`, `${path}/__main__.py`];
}

function filesAt(word: string, folder: string, startsFolder: boolean): string[] {
  if (word === "" || word.includes("\0") || word.length > 4096) return [];
  const given = word.startsWith("file://") ? word.slice("file://".length) : word;
  const path = isAbsolute(given) ? resolve(given) : resolve(folder, given);
  if (!(startsFolder && path === folder) && !path.startsWith(folder + sep)) return [];
  const stat = factsOf(path);
  const isFile = (each: string) => factsOf(each)?.isFile() === true;
  const ended = endings.map((ending) => path + ending).filter(isFile);
  if (stat?.isDirectory() === true) {
    const { main } = packageAt(join(path, "package.json")) ?? {};
    const named = typeof main === "string" ? ["", ...endings].map((ending) => `${main}${ending}`) : [];
    const inside = [...inFolders, ...named].map((name) => join(path, name));
    return [...ended, ...inside.filter((each) => each.startsWith(folder + sep) && isFile(each))];
  }
  return stat?.isFile() === true ? [path] : ended;
}

function factsOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // a folder that cannot be entered, a link to itself
    return undefined;
  }
}

/** Undefined when it cannot be read. */
function hashOf(path: string): string | undefined {
  let file: number;
  try {
    // a pipe would block
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return undefined;
    const hash = createHash("sha256").update(`${stat.size}\0`);
    const bytes = Buffer.alloc(2 ** 16);
    for (let at = 0; at < maxBytes; ) {
      const count = readSync(file, bytes, 0, bytes.length, at);
      if (count === 0) break;
      hash.update(bytes.subarray(0, count));
      at += count;
    }
    return hash.digest("hex");
  } finally {
    closeSync(file);
  }
}
