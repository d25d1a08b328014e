// Manages one MCP server of a session: start, restart, tool and prompt lists.

import type { Prompt } from "@modelcontextprotocol/client";
import { type Tool, ToolError } from "../tools/base/tool.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";
import type { ServerEntry } from "./server-entry.ts";

export interface ServerOptions
  extends Pick<ConnectionOptions, "version" | "roots" | "questions" | "privateHosts"> {
  /** Called when the prompts have changed. */
  changed(): void;
}

type State =
  | { readonly type: "starting" }
  | { readonly type: "ready"; readonly connection: Connection }
  /** It exited by itself after it was ready. */
  | { readonly type: "ended"; readonly connection: Connection }
  | { readonly type: "failed"; readonly reason: string };

const maxRestarts = 3;

export class Server {
  readonly name: string;
  tools: readonly Tool[] = [];
  prompts: readonly Prompt[] = [];
  readonly #entry: ServerEntry;
  readonly #options: ServerOptions;
  readonly #closing = new AbortController();
  #state: State = { type: "starting" };
  #restarts = 0;
  #started: Promise<void>;
  #isReported = false;

  constructor(name: string, entry: ServerEntry, options: ServerOptions) {
    this.name = name;
    this.#entry = { ...entry, name };
    this.#options = options;
    this.#started = this.#start();
  }

  /** Resolves when it is ready or has failed; never rejects. */
  get started(): Promise<void> {
    return this.#started;
  }

  get isStarting(): boolean {
    return this.#state.type === "starting";
  }

  /** The reason of the failure, once. */
  takeFailure(): string | undefined {
    if (this.#state.type !== "failed" || this.#isReported) return undefined;
    this.#isReported = true;
    return this.#state.reason;
  }

  /** Throws ToolError when it is not connected. */
  connection(): Connection {
    if (this.#state.type === "ready" || this.#state.type === "ended") return this.#state.connection;
    const reason = this.#state.type === "failed" ? this.#state.reason : "It is still starting.";
    throw new ToolError(`The MCP server ${this.name} is not available. ${reason}`);
  }

  /** Restarts it if it has ended by itself. */
  restartIfEnded(): void {
    if (this.#state.type !== "ended" || this.#restarts >= maxRestarts || this.#closing.signal.aborted) return;
    const { connection } = this.#state;
    this.#restarts++;
    this.#isReported = false;
    this.#state = { type: "starting" };
    this.#started = connection.close().then(() => this.#start());
  }

  async rootsChanged(): Promise<void> {
    if (this.#state.type === "ready") await this.#state.connection.rootsChanged().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort(new DOMException("the session was closed", "AbortError"));
    await this.#started;
    if (this.#state.type === "ready" || this.#state.type === "ended") await this.#state.connection.close();
  }

  async #start(): Promise<void> {
    const { signal } = this.#closing;
    let connection: Connection | undefined;
    try {
      // loaded only when there are servers
      const { openConnection } = await import("./connection.ts");
      const opened = await openConnection(this.#entry, {
        ...this.#options,
        signal,
        // never rejects
        changed: (list) => void this.#refresh(opened, list),
        ended: () => {
          if (this.#state.type === "ready") this.#state = { type: "ended", connection: opened };
        },
      });
      connection = opened;
      await Promise.all([this.#listTools(opened), this.#listPrompts(opened)]);
      this.#state = { type: "ready", connection: opened };
      if (this.prompts.length > 0) this.#options.changed();
    } catch (error) {
      this.#state = { type: "failed", reason: error instanceof Error ? error.message : String(error) };
      await connection?.close();
    }
  }

  async #refresh(connection: Connection, list: "tools" | "prompts"): Promise<void> {
    try {
      if (list === "tools") return await this.#listTools(connection);
      await this.#listPrompts(connection);
      if (this.#state.type === "ready") this.#options.changed();
    } catch {
      // keep the old list; the next call reports the problem
    }
  }

  async #listTools(connection: Connection): Promise<void> {
    const { resourceTools, serverTools } = await import("./server-tools.ts");
    const listed = await connection.tools(this.#closing.signal);
    const connected = () => this.connection();
    const own = serverTools(this.name, listed, connected);
    const resources = connection.hasResources ? resourceTools(this.name, connected) : [];
    const names = new Set<string>();
    // the server's own tools take precedence
    this.tools = [...own, ...resources].filter(({ name }) => !names.has(name) && names.add(name));
  }

  async #listPrompts(connection: Connection): Promise<void> {
    this.prompts = await connection.prompts(this.#closing.signal);
  }
}
