// Describes how an agent is started or reached.

import { argumentText } from "@parley/acp/internal";
import { isObject } from "@parley/acp/jsonrpc";
import type { JsonValue } from "@parley/acp/model";
import { editionNames, type NamedEdition } from "@parley/dialects";

/** The mode, model and options of new sessions. */
export interface SessionSetup {
  /** The id or name of a mode that the agent offers. */
  readonly mode?: string;
  /** The id or name of a model that the agent offers. */
  readonly model?: string;
  /** Values of other options, by the option's id, category or name. */
  readonly options?: Readonly<Record<string, JsonValue>>;
}

/** An agent that is a program on this machine. */
export interface CommandSpec {
  /** The name in messages, logs and the history. Default: the name of the program, or the host of the address. */
  readonly name?: string | undefined;
  /** The name for users. Default: `name`. */
  readonly title?: string | undefined;
  /** The mode, model and options of its sessions. */
  readonly setup?: SessionSetup | undefined;
  /**
   * The edition of the protocol that it speaks (docs/editions.md). A dialect, "pharo" or "scoped", must be named. Default:
   * `editions` of the client, which is version 2 or 1, as the agent answers.
   */
  readonly edition?: NamedEdition | undefined;
  /** How long the agent may take to answer `initialize`, in milliseconds. Default 60,000. */
  readonly handshakeTimeoutMs?: number | undefined;
  /** Known deviations of the agent. */
  readonly traits?:
    | {
        /** Whether it works better with its own file access, so that the client offers it none. Default false. */
        readonly ownFiles?: boolean | undefined;
        /** Whether its titles name a command or a tool exactly, and nothing else does. Default false. */
        readonly exactTitles?: boolean | undefined;
        /** Whether it never asks for permission, so that rules cannot stop it. Default false. */
        readonly neverAsks?: boolean | undefined;
        /** How long it may take to exit after the end of its input, in milliseconds. Default 1500. */
        readonly graceMs?: number | undefined;
        /**
         * How long it may keep sending updates after it has answered a prompt, in milliseconds. 0 means that it never
         * does. Default: unknown.
         */
        readonly lateMs?: number | undefined;
      }
    | undefined;
  /** A program, never a shell line. */
  readonly command: string;
  /** The arguments of the program. Default: none. */
  readonly args?: readonly string[] | undefined;
  /** Variables that are added to its environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * The variables that the agent gets from the environment of this process, besides those that every program needs.
   * `NAME_*` matches a prefix. Default: all except Parley's own secrets and the marks of other agents.
   */
  readonly pass?: readonly string[] | undefined;
  /** The command that installs the agent, shown when it is not found. */
  readonly install?: string | undefined;
  /** Whether its process runs in a sandbox (docs/sandbox.md). Default false. */
  readonly sandbox?: boolean | undefined;
  /** Folders that it can write to in a sandbox beside its workspace: absolute paths, or `~/` and a path below home. */
  readonly state?: readonly string[] | undefined;
  /**
   * The hosts that it reaches in a sandbox: `example.org`, `*.example.org`, `example.org:443`. A ready agent also
   * reaches those of its provider. Default: the network is open.
   */
  readonly hosts?: readonly string[] | undefined;
}

/**
 * What a ready agent needs in a sandbox. Paths are absolute, or begin with `~/`. `NAME=PATH` is the value of that
 * variable, if it is set.
 */
export interface SandboxNeeds {
  /** Folders that it writes to. They are created. */
  readonly state?: readonly string[];
  /** Secrets that it may read. */
  readonly read?: readonly string[];
  /** Paths in its state that it must not write. */
  readonly readOnly?: readonly string[];
  /** The hosts of its provider. They count only if hosts are named. */
  readonly hosts?: readonly string[];
  /** Variables that it gets in a sandbox. */
  readonly env?: Readonly<Record<string, string>>;
}

/** An agent on another machine. */
export interface RemoteSpec
  extends Pick<CommandSpec, "name" | "title" | "setup" | "edition" | "handshakeTimeoutMs" | "traits"> {
  /** The address: `https:`, `wss:`, or `http:` and `ws:` on this machine. */
  readonly url: string;
  /** Default: "http" for `http:` and `https:`, otherwise "websocket". */
  readonly transport?: "websocket" | "http" | undefined;
  /** Headers of every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether it knows only POST: one request for each message, and the answer in its body. It then cannot ask, and sends
   * updates only in the answer to a prompt. Its edition is "v1" unless a dialect is named. Default false.
   */
  readonly plainPost?: boolean | undefined;
  /** Allows unencrypted `http:` and `ws:` to other machines. Default false. */
  readonly allowPlainText?: boolean | undefined;
}

/** A program on this machine, or the address of an agent elsewhere. */
export type AgentSpec = CommandSpec | RemoteSpec;

/** @inline */
interface EntryFacts {
  readonly name: string;
  /** Built in, described by the app or the config file, or a command. */
  readonly origin: "ready" | "config" | "command";
}

/** A program with all that is needed to start it. */
export interface CommandEntry extends CommandSpec, EntryFacts {
  /** The name in messages, logs and the history. */
  readonly name: string;
  /** Always "stdio". */
  readonly transport: "stdio";
  /** The arguments of the program. */
  readonly args: readonly string[];
  /** What it needs in a sandbox. */
  readonly needs?: SandboxNeeds;
}

/** An address with all that is needed to reach it. */
export interface RemoteEntry extends RemoteSpec, EntryFacts {
  /** The name in messages, logs and the history. */
  readonly name: string;
  /** How it is reached. */
  readonly transport: "websocket" | "http";
}

/** An agent with all that is needed to start or reach it. */
export type AgentEntry = CommandEntry | RemoteEntry;

/**
 * Returns the entry for a command that a user typed.
 *
 * @throws {TypeError} When there is no program, or a word is not a text.
 *
 * @example
 * import { commandEntry } from "@parley/client/launch";
 *
 * console.log(commandEntry(["node", "agent.js"]).name);
 */
export function commandEntry(argv: readonly string[]): CommandEntry {
  const wrong = argv.findIndex((word) => typeof word !== "string");
  if (wrong >= 0)
    throw new TypeError(`an agent's command must be a list of texts, got ${argumentText(argv[wrong])}`);
  const [command, ...args] = argv;
  if (command === undefined || command === "") {
    throw new TypeError('an agent\'s command must begin with a program, as ["node", "agent.js"]; got none');
  }
  return { name: programName(command), origin: "command", transport: "stdio", command, args };
}

/**
 * Completes the description of an agent.
 *
 * @param key - The name of the agent, if the description has none.
 * @throws {TypeError} When it names neither a program nor an address, or both.
 *
 * @example
 * import { agentEntry } from "@parley/client/launch";
 *
 * console.log(agentEntry({ url: "wss://agents.example.com/acp" }).transport);
 */
export function agentEntry(spec: AgentSpec, key?: string): AgentEntry {
  const given: unknown = spec;
  if (!isObject(given))
    throw new TypeError(`an agent must be an object with command or url, got ${argumentText(given)}`);
  const name = spec.name ?? key;
  const where = name === undefined ? "the agent" : `the agent ${name}`;
  const [command, url] = [given["command"], given["url"]];
  if ((command === undefined) === (url === undefined)) {
    const got = command === undefined ? "neither" : "both";
    throw new TypeError(`${where} must have either a command or a url, got ${got}`);
  }
  for (const [member, value] of Object.entries({ command, url })) {
    if (value !== undefined && (typeof value !== "string" || value === ""))
      throw new TypeError(`${where}: ${member} must be a text that is not empty, got ${argumentText(value)}`);
  }
  const { edition } = spec;
  if (edition !== undefined && !editionNames.includes(edition))
    throw new TypeError(
      `${where}: edition must be one of ${editionNames.join(", ")}, got ${argumentText(edition)}`,
    );
  // as: an entry is a spec too, and keeps its origin
  const { origin = "config" } = spec as Partial<AgentEntry>;
  if (isCommandSpec(spec)) {
    const { args = [] } = spec;
    if (!Array.isArray(args))
      throw new TypeError(`${where}: args must be a list of texts, got ${argumentText(args)}`);
    return { ...spec, name: name ?? programName(spec.command), origin, transport: "stdio", args };
  }
  const spoken = /^http/i.test(spec.url) ? "http" : "websocket";
  const plain = spec.plainPost === true ? plainEdition(spec, where) : {};
  return { ...spec, ...plain, name: name ?? hostOf(spec.url), origin, transport: spec.transport ?? spoken };
}

/** A turn of version 2 goes on after the answer to its prompt, where plain POST has nothing to carry it. */
function plainEdition(
  { edition = "v1", url }: RemoteSpec,
  where: string,
): { readonly edition: NamedEdition } {
  if (edition === "v2")
    throw new TypeError(
      `${where}: plainPost cannot carry v2, whose turns go on after the answer; use v1 or a dialect`,
    );
  if (!/^http/i.test(url))
    throw new TypeError(`${where}: plainPost needs an address with https:// or http://`);
  return { edition };
}

function isCommandSpec(spec: AgentSpec): spec is CommandSpec {
  return "command" in spec && spec.command !== undefined;
}

function programName(command: string): string {
  return command.split(/[\\/]/).at(-1) || command;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
