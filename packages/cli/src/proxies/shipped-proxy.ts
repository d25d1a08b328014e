// What a proxy that comes with Parley says about itself.

import type { Transport } from "@parley/acp";
import type { ChainComponent } from "@parley/acp/proxy";
import type { AgentEntry } from "@parley/client/launch";
import type { Gate, Rule } from "@parley/client/policy";
import type { Option } from "../command/command.ts";

/** What was typed behind the name of a proxy. */
export interface ProxyArguments {
  /** The value of an option; undefined if it was not given. Throws if it does not fit. */
  text(name: string): string | undefined;
  list(name: string): readonly string[];
  flag(name: string): boolean;
  /** One of these words. */
  choice<Word extends string>(name: string, words: readonly Word[]): Word | undefined;
  /** A number above 0. */
  number(name: string): number | undefined;
  /** Milliseconds. */
  time(name: string): number | undefined;
  /** Throws: it needs something else, or the value of that option is wrong. */
  wrong(wanted: string, name?: string): never;
}

/** The agent at the end of a chain. */
export interface ChainAgent {
  readonly entry: AgentEntry;
  /** Whether its process runs in a sandbox. */
  readonly isSandboxed: boolean;
  /** The rules of proxies that its sandbox was made with. */
  readonly sandboxRules: readonly Rule[];
  /** The command-line option that puts it into a sandbox. */
  readonly sandboxOption: string;
}

/** What a proxy has of the process that it runs in. */
export interface ProxyHost {
  /** The agent at the end of the chain. Undefined if another conductor starts the proxy. */
  readonly agent?: ChainAgent | undefined;
  /** A folder of its own for what survives a restart. */
  readonly folder: string;
  /** Tells the user what went wrong. */
  warn(text: string): void;
  /** Starts an agent: one that is known by this name, or a command. */
  reach(agent: string): Promise<Transport>;
  /** The proxy decides with this gate. Its refusals count for the command that runs the chain. */
  gated?(gate: Gate): void;
  /** Keys and tokens that are known on this machine. */
  secrets(): readonly string[];
}

export interface ShippedProxy {
  readonly name: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, Option>>;
  /** What a chain starts. */
  create(given: ProxyArguments, host: ProxyHost): ChainComponent["start"];
  /** The rules that the sandbox of the agent should keep. `cwd` is the agent's directory. Throws if one is wrong. */
  sandboxRules?(given: ProxyArguments, cwd: string): readonly Rule[];
  /** Forgets what it keeps. Returns a sentence that says what. */
  reset?(host: Pick<ProxyHost, "folder">): string;
}
