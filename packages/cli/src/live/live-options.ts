// Parses the options that every command with an agent and a session takes.

import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { McpServer } from "@parley/acp/model";
import type { RemoteSpec } from "@parley/client";
import type { NamedEdition } from "@parley/dialects";
import { type Invocation, usageError } from "../command/command.ts";
import { assignment, listOption, textOption } from "../command/option-values.ts";
import type { PolicyFile } from "../permissions/policy-rules.ts";
import type { Front } from "../proxy/chain-front.ts";
import type { ChainVoice } from "../proxy/chain-voice.ts";
import { editionOption } from "../settings/edition-choice.ts";
import type { SecretsLoader } from "../settings/known-secrets.ts";
import { addressEntry, tokenHint } from "../settings/remote-address.ts";
import { type SandboxChoice, sandboxChoices, sandboxWords } from "../settings/sandbox-choice.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import type { GivenTools, ToolReceiver } from "./given-tools.ts";

export interface LiveOptions {
  readonly agent: string | undefined;
  /** The argv of an agent, after `--`. */
  readonly command: readonly string[];
  /** The address of a remote agent. */
  readonly address?: RemoteSpec | undefined;
  /** What to do when the server at the address refuses the token. */
  readonly tokenHint?: string | undefined;
  /** Take the session from another client that has it. */
  readonly takesOver?: boolean | undefined;
  /** The edition that the agent speaks. Default: that of its entry. */
  readonly edition?: NamedEdition | undefined;
  readonly cwd: string;
  /** --cwd was given; otherwise a continued session has its own. */
  readonly isCwdGiven: boolean;
  /** Additional directories, absolute. */
  readonly extraRoots: readonly string[];
  readonly session: string | undefined;
  /** The session must exist. */
  readonly isResumed?: boolean;
  /** Continue the most recent session in the directory. */
  readonly isContinued: boolean;
  /** Whether a new session begins where there is none to continue. Default: that is an error. */
  readonly beginsAnyway?: boolean;
  readonly policy: PolicyFile | undefined;
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  /** The sandbox of commands; undefined: that of the config. */
  readonly sandbox: SandboxChoice | undefined;
  /** Whether the agent's process runs in a sandbox, whatever its entry says. */
  readonly sandboxesAgent: boolean;
  /** The command that is asked before the user. */
  readonly reviewer: string | undefined;
  readonly mode: string | undefined;
  readonly model: string | undefined;
  readonly set: readonly (readonly [option: string, value: string])[];
  readonly mcpServers: readonly McpServer[];
  /** The tools of this process, for one agent. */
  readonly tools?: ((receiver: ToolReceiver) => GivenTools) | undefined;
  /** What stands in front of the agent; what it says goes to `voice`. */
  readonly front?: ((voice: ChainVoice) => Front | undefined) | undefined;
  /** The options that put it there, as words. Undefined: those of a session that is continued count. */
  readonly proxies?: readonly string[] | undefined;
  /** The same without secrets, to show them. */
  readonly frontWords?: readonly string[];
  readonly keepsHistory: boolean;
  readonly showsStderr: boolean;
  /** Whether our own agent leaves out its notice about offline work. */
  readonly hidesNotice?: boolean;
  /** Added to the agent's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** `help` tells where to read about the options. */
export async function liveOptions({ values, argv }: Invocation, help: string): Promise<LiveOptions> {
  const text = (name: string) => textOption(values, name);
  const list = (name: string) => listOption(values, name);
  const agent = text("agent");
  if (agent !== undefined && argv.length > 0) {
    throw usageError("expected either --agent or a command after --, got both", help);
  }
  const url = text("url");
  if (url !== undefined && (agent !== undefined || argv.length > 0))
    throw usageError("expected --url alone, got another agent too", help);
  for (const name of ["header", "token-file", "plain-post"])
    if (url === undefined && values[name] !== undefined) throw usageError(`--${name} needs --url`, help);
  const isAgain = values["session"] !== undefined || values["continue"] === true;
  if (url === undefined && values["takeover"] === true && !isAgain)
    throw usageError("--takeover needs --url, or a session to continue", help);
  if (values["continue"] === true) checkContinued(values, help);
  if (values["session"] !== undefined && values["no-history"] === true)
    throw usageError("--session stores the session, so it cannot be used with --no-history", help);
  const cwd = resolve(text("cwd") ?? ".");
  // directories of a remote agent are on its machine
  const isHere = url === undefined;
  if (isHere && !isDirectory(cwd)) throw usageError(`--cwd: ${escapedLine(cwd)} is not a directory`, help);
  return {
    agent,
    command: argv,
    address: url === undefined ? undefined : addressEntry(url, values),
    tokenHint: url === undefined ? undefined : tokenHint(values),
    takesOver: values["takeover"] === true,
    edition: editionOption(values),
    cwd,
    isCwdGiven: text("cwd") !== undefined,
    extraRoots: list("add-dir").map((given) => (isHere ? extraRoot(given, help) : resolve(given))),
    session: nameOf(text("session"), help),
    isResumed: values["resume"] === true,
    isContinued: values["continue"] === true,
    policy: await givenPolicy(text("policy")),
    allow: list("allow"),
    ask: list("ask"),
    deny: list("deny"),
    ...sandboxesOf(list("sandbox"), help),
    reviewer: text("reviewer"),
    mode: text("mode"),
    model: text("model"),
    set: list("set").map((given) => assignment("set", given)),
    mcpServers: await givenServers(list("mcp")),
    tools: await givenModules(list("tools")),
    front: await frontOf(values),
    proxies: proxyWords(values),
    frontWords: await frontWords(values),
    keepsHistory: values["no-history"] !== true,
    showsStderr: values["verbose"] === true,
  };
}

/** `--proxy none`: not even those of a session that is continued. */
function isWithoutProxies(values: Invocation["values"]): boolean {
  const typed = listOption(values, "proxy");
  return typed.length === 1 && typed[0] === "none" && values["chain"] === undefined;
}

/** Undefined if neither `--chain` nor `--proxy` is given. */
function proxyWords(values: Invocation["values"]): readonly string[] | undefined {
  if (values["proxy"] === undefined && values["chain"] === undefined) return undefined;
  if (isWithoutProxies(values)) return [];
  const chain = textOption(values, "chain");
  const typed = listOption(values, "proxy").flatMap((proxy) => ["--proxy", proxy]);
  return [...(chain === undefined ? [] : ["--chain", chain]), ...typed];
}

async function frontWords(values: Invocation["values"]): Promise<readonly string[]> {
  const words = proxyWords(values) ?? [];
  return words.length === 0 ? words : (await import("../settings/known-secrets.ts")).shownWords(words);
}

/** A wrong proxy is reported before anything starts. */
async function frontOf(values: Invocation["values"]): Promise<LiveOptions["front"]> {
  if ((proxyWords(values) ?? []).length === 0) return undefined;
  const { chainFront } = await import("../proxy/chain-front.ts");
  chainFront(values, { say: () => undefined, stderr: () => undefined });
  return (voice) => chainFront(values, voice);
}

/** With what was typed for this command. Loaded once, on demand. */
export function secretsOf({
  command,
  mcpServers,
  env,
}: Pick<LiveOptions, "command" | "mcpServers" | "env">): SecretsLoader {
  let known: Promise<readonly string[]> | undefined;
  return () => {
    known ??= import("../settings/known-secrets.ts").then(({ knownSecrets }) =>
      knownSecrets({ command, mcpServers, env }),
    );
    return known;
  };
}

/** What most invocations do not need is loaded on demand: a conversation paints first. */
async function givenPolicy(path: string | undefined): Promise<PolicyFile | undefined> {
  if (path === undefined) return undefined;
  const { policyFile } = await import("../permissions/policy-rules.ts");
  return policyFile(path);
}

/** `agent`, a profile of commands, or both. */
function sandboxesOf(
  given: readonly string[],
  help: string,
): Pick<LiveOptions, "sandbox" | "sandboxesAgent"> {
  const isKnown = (word: string) => sandboxWords.some((each) => each === word);
  const wrong = given.find((word) => !isKnown(word));
  if (wrong !== undefined)
    throw usageError(`--sandbox: expected ${sandboxWords.join(", ")}, got ${escapedLine(wrong)}`, help);
  const [sandbox, another] = sandboxChoices.filter((each) => given.includes(each));
  if (another !== undefined)
    throw usageError(`--sandbox: expected one profile of commands, got ${sandbox} and ${another}`, help);
  return { sandbox, sandboxesAgent: given.includes("agent") };
}

function checkContinued(values: Invocation["values"], help: string): void {
  const other = ["session", "no-history"].find((name) => values[name] !== undefined);
  if (other === undefined) return;
  throw usageError(`--continue cannot be used with --${other}`, help);
}

function extraRoot(given: string, help: string): string {
  const path = resolve(given);
  if (!isDirectory(path)) throw usageError(`--add-dir: ${escapedLine(given)} is not a directory`, help);
  return path;
}

function nameOf(given: string | undefined, help: string): string | undefined {
  if (given !== undefined && !/^[\w.:@+/=~-]{1,200}$/.test(given)) {
    throw usageError(
      `--session: expected letters, digits and . _ - : @ + / = ~, got ${escapedLine(given)}`,
      help,
    );
  }
  return given;
}

async function givenServers(given: readonly string[]): Promise<McpServer[]> {
  if (given.length === 0) return [];
  const { mcpServersFrom } = await import("./mcp-option.ts");
  return (await Promise.all(given.map((each) => mcpServersFrom(each)))).flat();
}

/** A wrong module is reported before anything starts. */
async function givenModules(files: readonly string[]): Promise<LiveOptions["tools"]> {
  if (files.length === 0) return undefined;
  const { givenTools, toolsFrom } = await import("./given-tools.ts");
  const tools = (await Promise.all(files.map((each) => toolsFrom(each)))).flat();
  return (receiver) => givenTools(tools, receiver);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
