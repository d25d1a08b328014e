// Runs commands in the client's terminals, or on this machine, in a sandbox where one can start.

import type { Terminals } from "@parley/acp";
import { sandboxKey } from "@parley/acp/extensions";
import { optional } from "@parley/acp/jsonrpc";
import { localTerminals } from "@parley/acp/node";
import type { MovedFiles, SessionPolicy, SessionSandbox, SessionSandboxOptions } from "@parley/sandbox";
import { withoutKeys } from "../../model/key-variables.ts";
import type { AgentCommand, AgentTerminals, CommandSandbox, SandboxPolicy } from "../base/tool.ts";

/** `decides`: the client decides about each command that it runs. */
export function clientCommands(terminals: Terminals, decides: boolean): AgentTerminals {
  return {
    isClient: true,
    holder: async () => ({ by: decides ? "client" : "nobody" }),
    takeNotices: () => [],
    takeMoved: () => [],
    create: ({ isOutside, askHost: _, policy: __, ...options }) =>
      terminals.create(isOutside ? { ...options, _meta: { [sandboxKey]: "off" } } : options),
  };
}

interface LocalCommands extends AgentTerminals {
  /** The agent itself writes a file, which is no command's doing. */
  accept(path: string, text: string): Promise<void>;
  /** Ends all running commands. */
  close(): Promise<void>;
}

/** `path`: PATH for the commands; undefined leaves it as it is. `readOnly`: files that they cannot write. */
export function localCommands(
  roots: readonly [string, ...string[]],
  profile: CommandSandbox,
  path: () => Promise<string | undefined> = async () => undefined,
  readOnly: () => readonly string[] = () => [],
): LocalCommands {
  const held = new HeldCommands(roots, profile, readOnly);
  const [cwd] = roots;
  const inside = outputOf((onOutput) =>
    localTerminals({
      cwd,
      env: withoutKeys,
      onOutput,
      wrap: async (command) => (await held.sandbox()).wrap(command),
    }),
  );
  const outside = outputOf((onOutput) => localTerminals({ cwd, env: withoutKeys, onOutput }));
  return {
    isClient: false,
    holder: () => held.holder(),
    takeNotices: () => held.takeNotices(),
    takeMoved: () => held.takeMoved(),
    async create({ isOutside, askHost, policy, ...given }, onOutput) {
      const [{ by }, PATH] = await Promise.all([held.holder(), path()]);
      const options = { ...given, env: { ...given.env, ...optional({ PATH }) } };
      if (isOutside || by !== "sandbox") return outside.create(options, onOutput);
      held.policy = policy;
      const done = held.ask(askHost);
      const terminal = await inside.create(options, onOutput).catch((error: unknown) => {
        done();
        throw error;
      });
      return { ...terminal, release: () => terminal.release().finally(done) };
    },
    accept: (path, text) => held.accept(path, text),
    async close() {
      await Promise.all([inside.close(), outside.close()]);
      await held.close();
    },
  };
}

type AskHost = NonNullable<AgentCommand["askHost"]>;

/** The sandbox of a session's commands, loaded when the first one runs. */
class HeldCommands {
  readonly #roots: readonly string[];
  readonly #profile: CommandSandbox;
  readonly #readOnly: () => readonly string[];
  /** Of the commands that run. */
  readonly #asking = new Set<{ readonly ask: AskHost | undefined }>();
  /** That of the command that starts. */
  policy: SandboxPolicy | undefined;
  #opened: Promise<SessionSandbox> | undefined;
  #problem: string | undefined;
  #told: string[] = [];
  #moved: MovedFiles[] = [];

  constructor(roots: readonly string[], profile: CommandSandbox, readOnly: () => readonly string[]) {
    this.#roots = roots;
    this.#profile = profile;
    this.#readOnly = readOnly;
  }

  sandbox(): Promise<SessionSandbox> {
    this.#opened ??= this.#open(this.#profile === "off" ? "workspace" : this.#profile);
    return this.#opened;
  }

  async #open(profile: SessionSandboxOptions["profile"]): Promise<SessionSandbox> {
    const { sessionSandbox } = await import("@parley/sandbox");
    return sessionSandbox({
      profile,
      roots: this.#roots,
      policy: () => this.#sandboxPolicy(),
      // the command that began last is the likeliest to ask
      decideHost: async (host) => (await [...this.#asking].at(-1)?.ask?.(host)) === true,
      tell: (text) => {
        this.#told.push(text);
      },
      onMoved: (moved) => {
        this.#moved.push(moved);
      },
    });
  }

  #sandboxPolicy(): SessionPolicy {
    const { hasHostNetwork = false, readOnly = [], ...paths } = this.policy ?? {};
    return {
      ...paths,
      readOnly: [...readOnly, ...this.#readOnly()],
      network: hasHostNetwork ? "host" : "hosts",
    };
  }

  async holder(): ReturnType<AgentTerminals["holder"]> {
    if (this.#profile === "off") return { by: "nobody" };
    if (await (await this.sandbox()).isAvailable()) return { by: "sandbox", profile: this.#profile };
    this.#problem ??= this.#told.shift();
    return { by: "nobody", ...(this.#problem === undefined ? {} : { reason: this.#problem }) };
  }

  takeNotices(): readonly string[] {
    return this.#told.splice(0);
  }

  takeMoved(): readonly MovedFiles[] {
    return this.#moved.splice(0);
  }

  /** Returns a function to call when the command has ended. */
  ask(ask: AskHost | undefined): () => void {
    const asking = { ask };
    this.#asking.add(asking);
    return () => void this.#asking.delete(asking);
  }

  async accept(path: string, text: string): Promise<void> {
    await (await this.#opened)?.accept(path, text);
  }

  async close(): Promise<void> {
    await (await this.#opened)?.close();
  }
}

/** Terminals whose output goes to the caller of `create`. */
function outputOf(
  open: (onOutput: (terminalId: string, bytes: Uint8Array) => void) => ReturnType<typeof localTerminals>,
) {
  const listeners = new Map<string, (bytes: Uint8Array) => void>();
  /** Output that arrives before `create` returns. */
  const early = new Map<string, Uint8Array[]>();
  let starting = 0;
  let opened: ReturnType<typeof localTerminals> | undefined;
  const terminals = () =>
    (opened ??= open((terminalId, bytes) => {
      const listener = listeners.get(terminalId);
      if (listener !== undefined) listener(bytes);
      else if (starting > 0) early.set(terminalId, [...(early.get(terminalId) ?? []), Buffer.from(bytes)]);
    }));
  const create = async (
    given: Parameters<Terminals["create"]>[0],
    onOutput?: (bytes: Uint8Array) => void,
  ): ReturnType<AgentTerminals["create"]> => {
    starting += 1;
    try {
      const terminal = await terminals().create(given);
      const { terminalId } = terminal;
      for (const bytes of early.get(terminalId) ?? []) onOutput?.(bytes);
      listeners.set(terminalId, onOutput ?? (() => undefined));
      return {
        terminalId,
        output: () => terminal.output(),
        waitForExit: (waiting) => terminal.waitForExit(waiting),
        kill: () => terminal.kill(),
        release: () => terminal.release().finally(() => listeners.delete(terminalId)),
      };
    } finally {
      starting -= 1;
      if (starting === 0) early.clear();
    }
  };
  return { create, close: async () => opened?.close() };
}
