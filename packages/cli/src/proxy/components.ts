// The components of a chain, as users write them: in options, on the command line and in the config file.

import { join } from "node:path";
import { optional } from "@parley/acp/jsonrpc";
import { findProgram, spawnTransport } from "@parley/acp/node";
import type { ChainComponent, OnExit } from "@parley/acp/proxy";
import type { ChainSection, ClientConfig } from "@parley/client/config";
import type { Rule } from "@parley/client/policy";
import { type Invocation, usageError } from "../command/command.ts";
import { listOption, textOption } from "../command/option-values.ts";
import { shellWords } from "../command/shell-words.ts";
import { shippedProxies } from "../proxies/shipped-proxies.ts";
import type { ChainAgent, ProxyHost, ShippedProxy } from "../proxies/shipped-proxy.ts";
import { stateFolder } from "../settings/data-folder.ts";
import { knownSecrets, shownWords } from "../settings/known-secrets.ts";
import { escapedLine, safeLine } from "../terminal/sanitise.ts";
import type { ChainVoice } from "./chain-voice.ts";
import { proxyArguments } from "./proxy-arguments.ts";

export const onExitWords = ["restart", "bypass", "fail"] as const satisfies readonly OnExit[];

/** The words of a component, with how it is looked after. */
export interface Given {
  /** Where it was written. */
  readonly where: string;
  readonly words: readonly string[];
  /** Whether the first word is a shipped proxy. Default: if there is one of that name. */
  readonly isShipped?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly onExit?: OnExit | undefined;
  readonly errors?: "open" | "closed" | undefined;
  readonly policy?: boolean | undefined;
}

export function shippedNamed(name: string): ShippedProxy | undefined {
  return shippedProxies.find((each) => each.name === name);
}

/** The folder in which a shipped proxy keeps what survives a restart. */
export function proxyFolder(name: string): string {
  return join(stateFolder(), "proxies", name);
}

/** What `--chain` and `--proxy` name, in that order. Empty where neither is given. */
export function chosenComponents(values: Invocation["values"], config: ClientConfig): readonly Given[] {
  const name = textOption(values, "chain");
  const chain = name === undefined ? [] : chainNamed(name, config);
  return [...chain, ...listOption(values, "proxy").map((text) => typedComponent("--proxy", text))];
}

/** The components that a user typed, one per text. */
export function typedComponents(texts: readonly string[], onExit: OnExit | undefined): readonly Given[] {
  return texts.map((text) => ({ ...typedComponent("parley proxy", text), onExit }));
}

/** What a chain is made of. Throws a CommandError that says which component is wrong. */
export function madeComponents(
  all: readonly Given[],
  voice: ChainVoice,
  agent?: ChainAgent,
): readonly ChainComponent[] {
  return all.map((given) => component(given, voice, agent));
}

/** The rules that the sandbox of the agent behind them should keep. Throws as `madeComponents` does. */
export function sandboxRules(all: readonly Given[], cwd: string): readonly Rule[] {
  return all.flatMap(({ words: [name = "", ...args], isShipped, where }) => {
    const shipped = isShipped === false ? undefined : shippedNamed(name);
    return shipped?.sandboxRules?.(proxyArguments(shipped, args, where), cwd) ?? [];
  });
}

/** The chains of the config file, checked. */
export function checkChains(config: ClientConfig): void {
  const silent: ChainVoice = { say: () => undefined, stderr: () => undefined };
  for (const name of Object.keys(config.chains ?? {})) madeComponents(chainNamed(name, config), silent);
}

function typedComponent(where: string, text: string): Given {
  return { where, words: shellWords(text, where) };
}

function chainNamed(name: string, { chains = {} }: ClientConfig): readonly Given[] {
  const chain = Object.hasOwn(chains, name) ? chains[name] : undefined;
  if (chain === undefined) {
    const known = Object.keys(chains).join(", ");
    throw usageError(
      `--chain: there is no chain ${escapedLine(name)} in the config file; there are: ${known || "none"}`,
      "add it with parley config set chains.NAME '[\"budget --tokens 200000\"]'",
    );
  }
  return chain.map((each, at) => configured(each, `chains.${name}[${at}]`));
}

function configured(section: ChainSection, where: string): Given {
  if (typeof section === "string") return typedComponent(where, section);
  const { proxy, command, args = [], ...rest } = section;
  const [word = ""] = [proxy, command].filter((each) => each !== undefined);
  return { where, words: [word, ...args], isShipped: proxy !== undefined, ...rest };
}

function component(given: Given, voice: ChainVoice, agent?: ChainAgent): ChainComponent {
  const { where, words, isShipped, onExit = "restart", errors, policy } = given;
  const [first, ...args] = words;
  if (first === undefined)
    throw usageError(`${where}: expected a proxy, got an empty text`, "run parley proxy for a list");
  const shipped = shippedNamed(first);
  if (isShipped === true && shipped === undefined) {
    const names = shippedProxies.map(({ name }) => name).join(", ");
    throw usageError(`${where}.proxy must be one of ${names}, got ${escapedLine(first)}`, "see parley proxy");
  }
  if (policy === true && onExit === "bypass")
    throw usageError(
      `${where}: ${escapedLine(first)} decides what is allowed, so it cannot be bypassed`,
      'use onExit "restart" or "fail"',
    );
  if (policy === true && errors === "open")
    throw usageError(
      `${where}: ${escapedLine(first)} decides what is allowed, so its errors cannot be open`,
      'use errors "closed"',
    );
  const looked = { onExit, ...optional({ errors, policy }) };
  if (shipped !== undefined && isShipped !== false)
    return {
      name: first,
      start: shipped.create(proxyArguments(shipped, args, where), hostOf(first, voice, agent)),
      ...looked,
    };
  if (errors !== undefined)
    throw usageError(
      `${where}: errors is for the proxies that come with Parley; ${escapedLine(first)} handles its own`,
      "leave it out",
    );
  if (isShipped === undefined && !first.includes("/") && findProgram(first) === undefined) {
    const names = shippedProxies.map(({ name }) => name).join(", ");
    throw usageError(
      `${where}: ${escapedLine(first)} is neither a proxy of Parley nor a program on PATH`,
      `the proxies are ${names}; see parley proxy`,
    );
  }
  return { name: commandName(words), start: commandOf(given, voice), ...looked };
}

const longestName = 60;

/** With its arguments, since several may be started by one program, such as node. Of paths the last part. */
function commandName(words: readonly string[]): string {
  const parts = shownWords(words).map((word) => word.split(/[\\/]/).at(-1) || word);
  return safeLine(parts.join(" ")).slice(0, longestName);
}

/** One for each command, because a conductor remembers how a command speaks. */
const starts = new WeakMap<ChainVoice, Map<string, ChainComponent["start"]>>();

function commandOf({ words, env }: Given, voice: ChainVoice): ChainComponent["start"] {
  const known = starts.get(voice) ?? new Map<string, ChainComponent["start"]>();
  starts.set(voice, known);
  const key = JSON.stringify([words, env]);
  const [command = "", ...args] = words;
  const start =
    known.get(key) ?? (() => spawnTransport(command, args, { onStderr: voice.stderr, ...optional({ env }) }));
  known.set(key, start);
  return start;
}

function hostOf(name: string, voice: ChainVoice, agent: ChainAgent | undefined): ProxyHost {
  const { say, gated } = voice;
  return {
    agent,
    folder: proxyFolder(name),
    warn: (text) => say(`${name}: ${text}`),
    ...optional({ gated }),
    reach: async (agent) => {
      const { agentOf, reachedTransport } = await import("./chain-agent.ts");
      return reachedTransport(agentOf(shellWords(agent, `${name} --to`)), voice);
    },
    secrets: () => knownSecrets(),
  };
}
