// What `parley run` was asked to do, from its flags. What cannot be meant is a usage error, before anything starts.

import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { McpServer } from "@parley/acp";
import type { McpSection } from "@parley/client/config";
import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { parseTime } from "../command/option-values.ts";
import { type PolicyFile, policyFile } from "../permissions/policy-rules.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import type { PromptSource } from "./prompt-source.ts";

export const formats = ["text", "json", "quiet"] as const;

export interface RunOptions {
  readonly prompt: PromptSource;
  readonly images: readonly string[];
  readonly agent: string | undefined;
  /** What follows `--`: the argv of an agent. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** Whether the user said so: else a session that is gone on with says where. */
  readonly isCwdGiven: boolean;
  /** Directories beside it, absolute. */
  readonly extraRoots: readonly string[];
  readonly session: string | undefined;
  /** Goes on with the session that was used last in the directory. */
  readonly isContinued: boolean;
  readonly format: (typeof formats)[number];
  readonly policy: PolicyFile | undefined;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly mode: string | undefined;
  readonly model: string | undefined;
  readonly set: readonly (readonly [option: string, value: string])[];
  readonly timeoutMs: number | undefined;
  readonly mcpServers: readonly McpServer[];
  readonly keepsHistory: boolean;
  readonly showsStderr: boolean;
  /** Given to the agent beside what it gets of ours. */
  readonly env?: Readonly<Record<string, string>>;
}

const help = "see parley help run";

export async function runOptions({ values, positionals, argv, json }: Invocation): Promise<RunOptions> {
  const text = (name: string) => (typeof values[name] === "string" ? values[name] : undefined);
  const list = (name: string) =>
    [values[name] ?? []].flat().filter((value): value is string => typeof value === "string");
  const agent = text("agent");
  if (agent !== undefined && argv.length > 0) {
    throw usageError("--agent and a command after -- are two agents; there can be one", help);
  }
  if (values["continue"] === true) checkContinued(values);
  if (values["session"] !== undefined && values["no-history"] === true)
    throw usageError("--session keeps what is said, and --no-history keeps nothing: give one of them", help);
  const cwd = resolve(text("cwd") ?? ".");
  if (!isDirectory(cwd)) throw usageError(`--cwd ${escapedLine(cwd)} is no directory`, help);
  return {
    prompt: { words: positionals.slice(0, positionals.length - argv.length), files: list("file") },
    images: list("image"),
    agent,
    command: argv,
    cwd,
    isCwdGiven: text("cwd") !== undefined,
    extraRoots: list("add-dir").map(extraRoot),
    session: nameOf(text("session")),
    isContinued: values["continue"] === true,
    format: formatOf(text("format") ?? "text", json),
    policy: await policyFile(text("policy")),
    allow: list("allow"),
    deny: list("deny"),
    mode: text("mode"),
    model: text("model"),
    set: list("set").map(assignment),
    timeoutMs: duration(text("timeout")),
    mcpServers: (await Promise.all(list("mcp").map((given) => mcpServersFrom(given)))).flat(),
    keepsHistory: values["no-history"] !== true,
    showsStderr: values["verbose"] === true,
  };
}

function checkContinued(values: Invocation["values"]): void {
  const other = ["session", "no-history"].find((name) => values[name] !== undefined);
  if (other === undefined) return;
  throw usageError(`--continue goes on with the last session here, and cannot be had with --${other}`, help);
}

function extraRoot(given: string): string {
  const path = resolve(given);
  if (!isDirectory(path)) throw usageError(`--add-dir ${escapedLine(given)} is no directory`, help);
  return path;
}

function chosen<Word extends string>(name: string, given: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === given);
  if (word === undefined)
    throw usageError(`--${name} takes ${words.join(", ")}, got ${escapedLine(given)}`, help);
  return word;
}

/** `--json` counts for more, but not for a word that is none. */
function formatOf(given: string, json: boolean): RunOptions["format"] {
  const format = chosen("format", given, formats);
  return json ? "json" : format;
}

function nameOf(given: string | undefined): string | undefined {
  if (given !== undefined && !/^[\w.:@+/=~-]{1,200}$/.test(given)) {
    throw usageError(
      `--session takes letters, digits and . _ - : @ + / = ~, got ${escapedLine(given)}`,
      help,
    );
  }
  return given;
}

function assignment(given: string): [string, string] {
  const at = given.indexOf("=");
  if (at < 1) throw usageError(`--set takes OPTION=VALUE, got ${escapedLine(given)}`, help);
  return [given.slice(0, at), given.slice(at + 1)];
}

function duration(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = parseTime(given, ["ms", "s", "m", "h"], "s");
  // beyond it Node's timers fire at once
  if (ms === undefined || ms >= 2 ** 31) {
    throw usageError(`--timeout takes a time such as 90, 90s, 10m or 1h, got ${escapedLine(given)}`, help);
  }
  return ms;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** `NAME=URL`, JSON, or a file of JSON, in the shape that every MCP client reads: `{"mcpServers":{"name":{…}}}`. */
async function mcpServersFrom(given: string): Promise<McpServer[]> {
  const [, name, url] = /^([\w.-]+)=(https?:\/\/.+)$/.exec(given) ?? [];
  if (name !== undefined && url !== undefined) return [{ type: "http", name, url, headers: [] }];
  const wanted = 'give NAME=URL, or a file with {"mcpServers":{"NAME":{"command":"...","args":[]}}}';
  const isJson = given.trimStart().startsWith("{");
  const what = isJson ? "--mcp" : `--mcp ${escapedLine(given)}`;
  if (/^[\w.-]+=/.test(given) && !existsSync(given))
    throw usageError(`${what}: what follows NAME= must be an http or https URL`, wanted);
  let parsed: unknown;
  try {
    parsed = JSON.parse(isJson ? given : await readFile(given, "utf8"));
  } catch (error) {
    throw usageError(`${what} cannot be read: ${escapedLine(reasonOf(error as Error))}`, wanted); // as: both throw Errors
  }
  const { mcpServers } = (parsed ?? {}) as { mcpServers?: unknown }; // checked next
  if (typeof mcpServers !== "object" || mcpServers === null)
    throw usageError(`${what} has no mcpServers`, wanted);
  const { ConfigError, mcpServer } = await import("@parley/client/config");
  try {
    return Object.entries(mcpServers).map(([key, entry]) => mcpServer(key, sectionOf(entry)));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw usageError(`${what}: ${escapedLine(error.message)}`, wanted);
  }
}

/** The parser repeats what it stumbled over, which may be a key. */
function reasonOf({ message }: Error): string {
  return message.replace(/, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s, "");
}

/** What other tools write into such files, as far as it is meant for us; what a server needs is known elsewhere. */
function sectionOf(entry: unknown): McpSection {
  const { type, command, args, env, url, headers } = (entry ?? {}) as Record<string, unknown>; // each is checked
  const texts = (from: unknown) =>
    Object.fromEntries(Object.entries(from ?? {}).map(([key, value]) => [key, String(value)]));
  return {
    ...(type === "stdio" || type === "http" || type === "sse" ? { type } : {}),
    ...(typeof command === "string" ? { command } : {}),
    ...(Array.isArray(args) ? { args: args.map(String) } : {}),
    ...(typeof url === "string" ? { url } : {}),
    env: texts(env),
    headers: texts(headers),
  };
}
