// The sandbox for the commands of one session: opened when the first command runs, and again when the rules change.

import type { TerminalCommand, WrappedCommand } from "@parley/acp/node";
import type { HostForwarder, Sandbox } from "@parley/sandbox";
import { enforcementOf, type RuleMount } from "../rules/enforcement.ts";
import type { Rule } from "../rules/rule.ts";

export type CommandProfile = "workspace" | "read-only" | "strict";

export interface SessionSandboxOptions {
  readonly profile: CommandProfile;
  readonly roots: readonly string[];
  /** Where rules, keys and logs of Parley are: commands can neither read nor write there. */
  readonly own: readonly string[];
  /** The rules that are in force now. */
  rules(): readonly Rule[];
  /** Whether anybody could allow a host: a person, or a rule. Otherwise there is no network. */
  canAllowHosts(): boolean;
  /** Decides about a host, as `name:port`. The signal aborts with the session. */
  decideHost(host: string, signal: AbortSignal): Promise<boolean>;
  /** Told in a line what a person should know: no sandbox can start, or a command left something behind. */
  tell(text: string): void;
}

export class SessionSandbox {
  readonly profile: CommandProfile;
  readonly #options: SessionSandboxOptions;
  #isAvailable = false;
  #probing: Promise<void> | undefined;
  #forwarder: Promise<HostForwarder> | undefined;
  readonly #ended = new AbortController();
  #running = 0;
  /** What was decided about hosts while commands run. */
  readonly #hosts = new Map<string, Promise<boolean>>();
  /** By what it lets through. Rules may change while commands run. */
  readonly #opened = new Map<string, Promise<Sandbox>>();

  constructor(options: SessionSandboxOptions) {
    this.profile = options.profile;
    this.#options = options;
  }

  /** Finds out whether a sandbox can start. If none can, that is told once. */
  async isAvailable(): Promise<boolean> {
    this.#probing ??= this.#probe();
    await this.#probing;
    return this.#isAvailable;
  }

  async #probe(): Promise<void> {
    const { sandboxStatus } = await loaded();
    const status = await sandboxStatus({ roots: this.#options.roots });
    this.#isAvailable = status.isAvailable;
    if (!status.isAvailable)
      this.#options.tell(
        `no sandbox can start, so commands are asked about: ${status.reason}; ${status.fix}`,
      );
  }

  async wrap(command: TerminalCommand): Promise<WrappedCommand> {
    const sandbox = await this.#sandbox();
    const wrapped = sandbox.wrap({ ...command, ownSession: true });
    const { tell } = this.#options;
    this.#running++;
    return {
      ...wrapped,
      finished: () => {
        // "once" is for as long as what asked for it may run
        if (--this.#running === 0) this.#hosts.clear();
        const { movedAside, created, left } = wrapped.finished();
        for (const { from, to } of movedAside)
          tell(`a command created ${from}, which others would run or obey; it was moved to ${to}`);
        for (const path of [...created, ...left.map(({ path }) => path)])
          tell(`a command created ${path}, which others would run or obey; it was left there`);
      },
    };
  }

  async #sandbox(): Promise<Sandbox> {
    const { profile, roots, own, rules } = this.#options;
    const all = rules();
    const mounts = enforcementOf(all, roots).flatMap((each) => each.mounts);
    const paths = (access: RuleMount["access"]): string[] =>
      mounts.flatMap((mount) => (mount.access === access ? [mount.path] : []));
    const options = {
      profile,
      roots,
      write: paths("write"),
      hide: [...own, ...paths("none")],
      readOnly: paths("read"),
    };
    const network = all.some(isForHostNetwork) ? "host" : await this.#network();
    const key = JSON.stringify([options, typeof network === "object" ? "hosts" : network]);
    const { openSandbox } = await loaded();
    const opened = this.#opened.get(key) ?? openSandbox({ ...options, network });
    this.#opened.set(key, opened);
    return opened;
  }

  /** One forwarder for all commands of the session. */
  async #network(): Promise<"none" | HostForwarder> {
    const { canAllowHosts, roots } = this.#options;
    if (!canAllowHosts()) return "none";
    const { hostForwarder, sandboxStatus } = await loaded();
    const status = await sandboxStatus({ roots });
    if (!status.isAvailable || status.hostsProblem !== undefined) return "none";
    this.#forwarder ??= hostForwarder({ decide: (host, port) => this.#isAllowed(`${host}:${port}`) });
    return this.#forwarder;
  }

  /** A program opens many connections to a host: it is decided about once while commands run. */
  #isAllowed(host: string): Promise<boolean> {
    const decided = this.#hosts.get(host) ?? this.#options.decideHost(host, this.#ended.signal);
    this.#hosts.set(host, decided);
    return decided;
  }

  async close(): Promise<void> {
    this.#ended.abort();
    const closing = [...this.#opened.values(), ...(this.#forwarder === undefined ? [] : [this.#forwarder])];
    await Promise.allSettled(closing.map(async (each) => (await each).close()));
  }
}

/** Most sessions run no command. */
function loaded() {
  return import("@parley/sandbox");
}

/** `allow net localhost`: the network of this machine, since a sandbox has a loopback interface of its own. */
function isForHostNetwork({ effect, operation, pattern }: Rule): boolean {
  return effect === "allow" && operation === "net" && pattern === "localhost";
}
