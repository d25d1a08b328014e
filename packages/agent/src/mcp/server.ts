// One MCP server of a session: it starts by itself, keeps its lists up to date, and says why it is not there.

import type { Prompt } from "@modelcontextprotocol/client";
import { type Tool, ToolError } from "../tools/base/tool.ts";
import type { Connection, ConnectionSetting } from "./connection.ts";
import type { ServerEntry } from "./server-entry.ts";

export interface ServerSetting extends Pick<ConnectionSetting, "version" | "roots" | "questions"> {
  /** Its prompts are others now. */
  changed(): void;
}

type State =
  | { readonly type: "starting" }
  | { readonly type: "ready"; readonly connection: Connection }
  /** It ran, and ended by itself. */
  | { readonly type: "ended"; readonly connection: Connection }
  | { readonly type: "failed"; readonly reason: string };

/** How often one that ends by itself is started again. */
const maxRestarts = 3;

export class Server {
  readonly name: string;
  tools: readonly Tool[] = [];
  prompts: readonly Prompt[] = [];
  readonly #entry: ServerEntry;
  readonly #setting: ServerSetting;
  readonly #closing = new AbortController();
  #state: State = { type: "starting" };
  #restarts = 0;
  #started: Promise<void>;
  #isTold = false;

  constructor(name: string, entry: ServerEntry, setting: ServerSetting) {
    this.name = name;
    this.#entry = { ...entry, name };
    this.#setting = setting;
    this.#started = this.#start();
  }

  /** When it is ready, or when it is known that it will not be. Never rejects. */
  get started(): Promise<void> {
    return this.#started;
  }

  get isStarting(): boolean {
    return this.#state.type === "starting";
  }

  /** Why it is not there, for the user: once. */
  takeFailure(): string | undefined {
    if (this.#state.type !== "failed" || this.#isTold) return undefined;
    this.#isTold = true;
    return this.#state.reason;
  }

  /** Throws ToolError where there is none. */
  connection(): Connection {
    if (this.#state.type === "ready" || this.#state.type === "ended") return this.#state.connection;
    const reason = this.#state.type === "failed" ? this.#state.reason : "It is still starting.";
    throw new ToolError(`The MCP server ${this.name} is not there. ${reason}`);
  }

  /** Starts it once more if it has ended by itself. */
  revive(): void {
    if (this.#state.type !== "ended" || this.#restarts >= maxRestarts || this.#closing.signal.aborted) return;
    const { connection } = this.#state;
    this.#restarts++;
    this.#isTold = false;
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
      // an agent without servers starts without what they need
      const { openConnection } = await import("./connection.ts");
      const opened = await openConnection(this.#entry, {
        ...this.#setting,
        signal,
        // it cannot reject
        changed: (list) => void this.#refresh(opened, list),
        ended: () => {
          if (this.#state.type === "ready") this.#state = { type: "ended", connection: opened };
        },
      });
      connection = opened;
      await Promise.all([this.#listTools(opened), this.#listPrompts(opened)]);
      this.#state = { type: "ready", connection: opened };
      if (this.prompts.length > 0) this.#setting.changed();
    } catch (error) {
      this.#state = { type: "failed", reason: error instanceof Error ? error.message : String(error) };
      await connection?.close();
    }
  }

  async #refresh(connection: Connection, list: "tools" | "prompts"): Promise<void> {
    try {
      if (list === "tools") return await this.#listTools(connection);
      await this.#listPrompts(connection);
      if (this.#state.type === "ready") this.#setting.changed();
    } catch {
      // the list that was there before is better than none; the next call says what is wrong with the server
    }
  }

  async #listTools(connection: Connection): Promise<void> {
    const { resourceTools, serverTools } = await import("./server-tools.ts");
    const listed = await connection.tools(this.#closing.signal);
    const connected = () => this.connection();
    const own = serverTools(this.name, listed, connected);
    const resources = connection.hasResources ? resourceTools(this.name, connected) : [];
    const names = new Set<string>();
    // the server's own tools come first, and a name counts once
    this.tools = [...own, ...resources].filter(({ name }) => !names.has(name) && names.add(name));
  }

  async #listPrompts(connection: Connection): Promise<void> {
    this.prompts = await connection.prompts(this.#closing.signal);
  }
}
