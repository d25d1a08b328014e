// Manages one MCP server of a session: start, restart, tool and prompt lists.

import type { Prompt } from "@modelcontextprotocol/client";
import type { BrowserLogin } from "../oauth/browser-login.ts";
import type { LoginFiles } from "../oauth/login-files.ts";
import type { ServerLogin } from "../oauth/server-login.ts";
import { type Tool, ToolError } from "../tools/base/tool.ts";
import type { ConnectionOptions, ServerConnection } from "./server-connection.ts";
import type { ServerEntry } from "./server-entry.ts";

export interface ServerOptions
  extends Pick<ConnectionOptions, "version" | "roots" | "questions" | "privateHosts"> {
  /** Called when the prompts have changed. */
  changed(): void;
  /** The logins of the user; undefined where there are none. */
  readonly logins?: LoginFiles | undefined;
}

type State =
  | { readonly type: "starting" }
  | { readonly type: "ready"; readonly connection: ServerConnection }
  /** It exited by itself after it was ready. */
  | { readonly type: "ended"; readonly connection: ServerConnection }
  | { readonly type: "failed"; readonly reason: string };

const maxRestarts = 3;

export class Server {
  readonly name: string;
  tools: readonly Tool[] = [];
  prompts: readonly Prompt[] = [];
  /** The user was asked to log in. */
  isLoginAsked = false;
  readonly #entry: ServerEntry;
  readonly #options: ServerOptions;
  #login: ServerLogin | undefined;
  readonly #closing = new AbortController();
  #state: State = { type: "starting" };
  #restarts = 0;
  #started: Promise<void>;
  #isReported = false;
  /** What the user should know of it, though it works. */
  #notice: string | undefined;
  #isWaitingForLogin = false;

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

  /** The server wants the user to log in. */
  get needsLogin(): boolean {
    return this.#login?.needed !== undefined;
  }

  /** Whether a login of the user is stored for it. */
  get isLoggedIn(): boolean {
    return this.#login?.isStored === true;
  }

  /** Begins a login in the browser. The server starts again when it ends well. Rejects with an Error for the user. */
  async beginLogin(): Promise<BrowserLogin> {
    const entry = this.#entry;
    if (!("loginName" in entry) || this.#login === undefined) throw new Error(`${this.name} takes no login`);
    const { browserLogin } = await import("./remote-login.ts");
    const begun = await browserLogin(entry, this.#login, this.#options.privateHosts);
    return {
      ...begun,
      finish: async (signal) => {
        await begun.finish(signal);
        this.restartIfEnded();
      },
    };
  }

  /** The reason of the failure, or what is left out, once. */
  takeFailure(): string | undefined {
    const notice = this.#notice;
    this.#notice = undefined;
    if (notice !== undefined) return notice;
    if (this.#state.type !== "failed" || this.#isReported) return undefined;
    this.#isReported = true;
    return this.#state.reason;
  }

  /** Throws ToolError when it is not connected. */
  connection(): ServerConnection {
    if (this.#state.type === "ready" || this.#state.type === "ended") return this.#state.connection;
    const reason = this.#state.type === "failed" ? this.#state.reason : "It is still starting.";
    throw new ToolError(`The MCP server ${this.name} is not available. ${reason}`);
  }

  /** Restarts it if it has ended by itself, or failed for want of a login that there is now. */
  restartIfEnded(): void {
    if (this.#closing.signal.aborted) return;
    if (this.#state.type === "failed" && this.#isWaitingForLogin && this.isLoggedIn) this.#restart();
    if (this.#state.type !== "ended" || this.#restarts >= maxRestarts) return;
    this.#restarts++;
    this.#restart(this.#state.connection);
  }

  #restart(connection?: ServerConnection): void {
    this.#isReported = false;
    this.#isWaitingForLogin = false;
    this.#state = { type: "starting" };
    this.#started = Promise.resolve(connection?.close()).then(() => this.#start());
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
    let connection: ServerConnection | undefined;
    try {
      // loaded only when there are servers
      const { openConnection } = await import("./server-connection.ts");
      this.#login ??= await this.#ownLogin();
      const opened = await openConnection(this.#entry, {
        ...this.#options,
        login: this.#login,
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
      this.#isWaitingForLogin = this.needsLogin;
      this.#state = { type: "failed", reason: error instanceof Error ? error.message : String(error) };
      await connection?.close();
    }
  }

  async #ownLogin(): Promise<ServerLogin | undefined> {
    const { logins, privateHosts } = this.#options;
    if (!("loginName" in this.#entry) || logins === undefined) return undefined;
    const { loginOf } = await import("./remote-login.ts");
    return loginOf(this.#entry, logins, privateHosts);
  }

  async #refresh(connection: ServerConnection, list: "tools" | "prompts"): Promise<void> {
    try {
      if (list === "tools") return await this.#listTools(connection);
      await this.#listPrompts(connection);
      if (this.#state.type === "ready") this.#options.changed();
    } catch {
      // keep the old list; the next call reports the problem
    }
  }

  async #listTools(connection: ServerConnection): Promise<void> {
    const { mostTools, resourceTools, serverTools } = await import("./server-tools.ts");
    const offered = await connection.tools(this.#closing.signal);
    const listed = offered.filter(({ name }) => isWanted(name, this.#entry.tools));
    if (listed.length > mostTools && this.tools.length === 0)
      this.#notice = `The MCP server ${this.name} has ${listed.length} tools. The first ${mostTools} are used. To choose others, name them in its settings.`;
    const connected = () => this.connection();
    const own = serverTools(this.name, listed, connected);
    const resources = connection.hasResources ? resourceTools(this.name, connected) : [];
    const names = new Set<string>();
    // the server's own tools take precedence
    const all = [...own, ...resources].filter(({ name }) => !names.has(name) && names.add(name));
    this.tools = all.filter(({ name }) => isWanted(name.slice(this.name.length + 1), this.#entry.tools));
  }

  async #listPrompts(connection: ServerConnection): Promise<void> {
    this.prompts = await connection.prompts(this.#closing.signal);
  }
}

/** `*` at the end of a pattern stands for anything. */
function isWanted(tool: string, patterns: readonly string[] | undefined): boolean {
  if (patterns === undefined) return true;
  return patterns.some((pattern) =>
    pattern.endsWith("*") ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern,
  );
}
