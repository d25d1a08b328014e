// Reads the settings that a workspace brings along: permission rules and MCP servers.

import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { originKey } from "@parley/acp/extensions";
import type { McpServer } from "@parley/acp/model";
import { ConfigError } from "../config/config-error.ts";
import { mcpJsonServers } from "../config/mcp-json.ts";
import { escapedPattern } from "../rules/path-pattern.ts";
import { parsePolicy } from "../rules/policy-text.ts";
import type { Rule } from "../rules/rule.ts";
import { ruleText } from "../rules/rule-text.ts";
import { type NamedFile, namedFiles } from "./named-files.ts";

/** One rule or MCP server of a workspace. */
export interface WorkspaceItem {
  /** The file, relative to the folder. */
  readonly file: string;
  /** What it is, in one line: a rule, or `MCP server` and its name. */
  readonly what: string;
  /**
   * More of an MCP server, one line each: its command line or address, its variables or headers, the files of the folder that
   * it names with a hash of their content, and notes.
   */
  readonly details: readonly string[];
}

/** The settings of a folder, whether it is trusted or not. None of them may be used before it is. */
export interface WorkspaceSettings {
  /** The folder, with links resolved. */
  readonly folder: string;
  /** The rules and MCP servers, as a person must see them before they trust the folder. Escape them for a terminal. */
  readonly items: readonly WorkspaceItem[];
  /**
   * The rules, as lines for `rules` of `permissionPolicy()`. They only deny and ask: a workspace cannot allow. Writes to the
   * files that its servers name are asked about.
   */
  readonly rules: readonly string[];
  /** The same rules, parsed. */
  readonly parsedRules: readonly Rule[];
  /** The servers, for `mcpServers` of a session. Their `_meta` tells Parley's agent that the user did not name them. */
  readonly mcpServers: readonly McpServer[];
  /** The files of the folder that the servers start or name, and those that links among them lead to. Their content is part of the trust. */
  readonly files: readonly string[];
  /** What cannot be used, and why, one line each. */
  readonly problems: readonly string[];
  /** Identifies the folder and the content of its files. */
  readonly identity: { readonly device: string; readonly inode: string; readonly content: string };
}

const policyFile = ".parley/policy";
const serversFile = ".mcp.json";
const maxBytes = 256 * 1024;
const maxServers = 64;
const ofWorkspace = { [originKey]: "workspace" };

/**
 * Reads `.parley/policy` and `.mcp.json` of a folder. Nothing else of a workspace is read as settings. Symbolic links
 * are refused, and invalid files are reported in `problems`.
 *
 * @param folder - The working directory of a session.
 * @throws {Error} When the folder does not exist.
 *
 * @example
 * import { workspaceSettings } from "@parley/client/trust";
 *
 * for (const { what, details } of workspaceSettings(process.cwd()).items) console.log([what, ...details].join("\n  "));
 */
export function workspaceSettings(folder: string): WorkspaceSettings {
  return settingsIn(realpathSync(folder));
}

function settingsIn(folder: string): WorkspaceSettings {
  const { dev, ino } = statSync(folder, { bigint: true });
  const content = createHash("sha256");
  const problems: string[] = [];
  const textOf = (file: string): string | undefined => {
    const text = readPlain(folder, file, problems);
    content.update(JSON.stringify([file, text ?? null]));
    return text;
  };
  const policy = textOf(policyFile);
  const parsed = parsePolicy(policy ?? "", "workspace", join(folder, policyFile));
  problems.push(...parsed.warnings);
  const own = parsed.rules.map(textOfRule);
  const json = textOf(serversFile);
  const mcpServers = json === undefined ? [] : serversIn(json, join(folder, serversFile), problems);
  const named = mcpServers.map((server) => namedFiles(server as ServerFields, folder)); // other kinds have no such fields
  const details = mcpServers.map((server, at) => detailsOf(server, named[at] ?? []));
  content.update(JSON.stringify(named));
  // a link can be turned to another file
  const files = [
    ...new Set(
      named
        .flat()
        .filter(({ isScripts }) => isScripts !== true)
        .flatMap(({ path, name }) => [path, join(folder, name)]),
    ),
  ];
  const guards = files.map((path) => guardOf(path, join(folder, serversFile)));
  return {
    folder,
    items: [
      ...own.map((what) => ({ file: policyFile, what, details: [] })),
      ...mcpServers.map((server, at) => ({
        file: serversFile,
        what: `MCP server ${String(server.name)}`,
        details: details[at] ?? [],
      })),
    ],
    rules: [...own, ...guards.map(textOfRule)],
    parsedRules: [...parsed.rules, ...guards],
    mcpServers,
    files,
    problems,
    identity: { device: String(dev), inode: String(ino), content: content.digest("hex") },
  };
}

function textOfRule(rule: Rule): string {
  return `${rule.effect} ${ruleText(rule)}`;
}

/** Writes to a file that a trusted server runs are asked about. Commands in a sandbox cannot write it. */
function guardOf(path: string, source: string): Rule {
  return { effect: "ask", operation: "write", origin: "workspace", source, pattern: escapedPattern(path) };
}

/** The text of a plain file. Undefined, with a problem unless it does not exist, if it is none. */
function readPlain(folder: string, file: string, problems: string[]): string | undefined {
  const path = join(folder, file);
  const steps = file.split("/").map((_, at, parts) => join(folder, ...parts.slice(0, at + 1)));
  // problems quote the file, and a link could lead to any file
  const link = steps.find((step) => lstatSync(step, { throwIfNoEntry: false })?.isSymbolicLink());
  const ignored = (why: string) => {
    problems.push(
      `${link ?? path} ${why}; the ${file === serversFile ? "MCP servers" : "rules"} of this workspace are ignored`,
    );
    return undefined;
  };
  if (link !== undefined) return ignored("is a symbolic link");
  let descriptor: number;
  try {
    // a pipe would block
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException; // of fs
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : ignored(`cannot be read (${code})`);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return ignored("is not a file");
    const bytes = Buffer.alloc(maxBytes + 1);
    let size = 0;
    for (let read = -1; read !== 0 && size <= maxBytes; size += read)
      read = readSync(descriptor, bytes, size, bytes.length - size, size);
    if (size > maxBytes) return ignored(`is larger than ${maxBytes / 1024} KiB`);
    return bytes.toString("utf8", 0, size);
  } finally {
    closeSync(descriptor);
  }
}

function serversIn(text: string, path: string, problems: string[]): McpServer[] {
  try {
    const broken: string[] = [];
    const servers = mcpJsonServers(JSON.parse(text), (why) => broken.push(`${path}: ${why}; it is ignored`));
    if (servers.length + broken.length > maxServers)
      throw new ConfigError(`there are more than ${maxServers} MCP servers`);
    problems.push(...broken);
    return servers.map((server) => ({ ...server, _meta: ofWorkspace }));
  } catch (error) {
    // the text of a syntax error quotes the file, which may contain a key
    const why = error instanceof ConfigError ? error.message : "it is not valid JSON";
    problems.push(`${path}: ${why}; the MCP servers of this workspace are ignored`);
    return [];
  }
}

function detailsOf(server: McpServer, named: readonly NamedFile[]): string[] {
  const { command, args = [], env = [], type, url, headers = [] } = server as ServerFields; // each is of one kind of server
  const main = url === undefined ? [command ?? "", ...args].map(shellWord).join(" ") : `${url} (${type})`;
  const lines = [
    main,
    ...env.map(({ name, value }) => `with ${name}=${value}`),
    ...headers.map(({ name, value }) => `with the header ${name}: ${value}`),
    ...named.map(
      ({ name, hash, isScripts }) =>
        `uses ${isScripts ? "the scripts of" : "the file"} ${shellWord(name)} as ${isScripts ? "they are" : "it is"} now (sha256 ${hash.slice(0, 16)})`,
    ),
  ];
  const isTemplate = lines.some((line) => /\$\{\w/.test(line));
  return isTemplate ? [...lines, "note: variables of your environment are not inserted"] : lines;
}

interface ServerFields {
  readonly type?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly url?: string;
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
}

/** Quoted as for a shell, so that it is visible where each argument ends. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
