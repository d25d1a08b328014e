// Manages the MCP servers of one session. They start in the background; the first turn waits for them.

import { type AgentSession, type ContentBlock, RequestError, type Turn } from "@parley/acp";
import { abortable } from "@parley/acp/jsonrpc";
import type { AvailableCommand, McpServer } from "@parley/acp/model";
import { type LoginFiles, loginFiles } from "../oauth/login-files.ts";
import { slashCommand } from "../text/slash-command.ts";
import type { Tool } from "../tools/base/tool.ts";
import type { ServerQuestions } from "./elicitation.ts";
import { AskedServers } from "./folder-servers.ts";
import { logInDuring } from "./login-question.ts";
import { commandName, promptArguments, promptCommand } from "./prompts.ts";
import { Server } from "./server.ts";
import { readEntry } from "./server-entry.ts";
import type { McpSources } from "./sources.ts";

export interface McpServersOptions {
  /** The agent's version. */
  readonly version: string;
  /** Called when the commands have changed. */
  changed(): void;
  readonly questions: ServerQuestions;
  /** Private hosts that the user's settings allow, besides the servers that the user named. */
  readonly privateHosts: readonly string[];
  /** Servers beside those of the client. */
  readonly sources: McpSources;
}

/** A longer wait is explained to the user. */
const noticeMs = 1_000;

export class McpServers {
  readonly #options: McpServersOptions;
  /** Keyed by the client's description. */
  readonly #servers = new Map<string, Server>();
  readonly #closing = new Set<Promise<void>>();
  readonly #asked: AskedServers;
  readonly #logins: LoginFiles | undefined;
  #roots: readonly string[] = [];
  #problems: readonly string[];

  constructor(options: McpServersOptions) {
    this.#options = options;
    const { loginFolder, problems = [] } = options.sources;
    this.#asked = new AskedServers(options.sources);
    this.#logins = loginFolder === undefined ? undefined : loginFiles(loginFolder);
    this.#problems = problems;
  }

  /** Starts new servers, ends removed ones and restarts those that have ended by themselves. */
  sync({ mcpServers, cwd, roots }: Pick<AgentSession, "mcpServers" | "cwd" | "roots">): void {
    const haveRootsChanged = this.#roots.join("\n") !== roots.join("\n");
    this.#roots = roots;
    const own = withoutNames(this.#options.sources.servers ?? [], mcpServers);
    const ofFiles = withoutNames(this.#asked.of(roots), [...mcpServers, ...own]);
    const all = [...mcpServers, ...own, ...ofFiles];
    const wanted = new Map(all.map((server) => [keyOf(server, all), server]));
    for (const [key, server] of this.#servers) {
      if (!wanted.has(key)) this.#end(key, server);
      else {
        server.restartIfEnded();
        // never rejects
        if (haveRootsChanged) void server.rootsChanged();
      }
    }
    for (const [key, mcpServer] of wanted) {
      if (this.#servers.has(key)) continue;
      const entry = readEntry(mcpServer, cwd);
      const server = new Server(this.#freeName(entry.name), entry, {
        ...this.#options,
        logins: this.#logins,
        roots: () => this.#roots,
      });
      this.#servers.set(key, server);
    }
  }

  /**
   * Asks about the servers of the project's files, waits for all servers at the start of a turn, lets the user log in and
   * reports new failures. Rejects only when the turn is cancelled.
   */
  async ready(turn: Turn): Promise<void> {
    const named = [...turn.session.mcpServers, ...(this.#options.sources.servers ?? [])];
    const tell = (text: string) => report(turn, text);
    await this.#asked.ask(turn, (name) => named.some((server) => server["name"] === name), tell);
    this.sync(turn.session);
    await this.#started(turn);
    for (const server of this.#all()) if (server.needsLogin) await logInDuring(turn, server, tell);
    await this.#started(turn);
    const problems = [...this.#problems, ...this.#all().flatMap((server) => server.takeFailure() ?? [])];
    this.#problems = [];
    for (const problem of problems) await tell(problem);
  }

  async #started(turn: Turn): Promise<void> {
    const starting = () => this.#all().filter((server) => server.isStarting);
    const notice = setTimeout(() => {
      const names = starting().map(({ name }) => name);
      void turn.think(`Waiting for MCP servers to start: ${names.join(", ")}.\n`);
    }, noticeMs);
    try {
      if (starting().length > 0) {
        await abortable(turn.signal, Promise.all(this.#all().map((server) => server.started)));
      }
    } finally {
      clearTimeout(notice);
    }
  }

  /** The files of the project that its servers start or read. */
  get files(): readonly string[] {
    return this.#asked.files;
  }

  get tools(): Tool[] {
    return this.#all().flatMap((server) => server.tools);
  }

  get commands(): AvailableCommand[] {
    const commands = this.#all().flatMap((server) =>
      server.prompts.map((prompt) => promptCommand(server.name, prompt)),
    );
    return [...new Map(commands.map((command) => [command.name, command])).values()];
  }

  /** Replaces a slash command of a server by the prompt that the server returns. */
  async expand(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<readonly ContentBlock[]> {
    const command = slashCommand(prompt);
    if (command === undefined) return prompt;
    for (const server of this.#all()) {
      const found = server.prompts.find(({ name }) => commandName(server.name, name) === command.name);
      if (found === undefined) continue;
      try {
        const args = promptArguments(found, command.argument);
        const result = await server.connection().prompt(found.name, args, { signal });
        const { promptBlocks } = await import("./content.ts");
        return command.replacedBy(promptBlocks(result));
      } catch (error) {
        signal.throwIfAborted();
        const message = error instanceof Error ? error.message : `/${command.name} failed`;
        throw new RequestError("invalid_params", message, {
          data: { reason: "mcp_prompt", path: "/prompt" },
        });
      }
    }
    return prompt;
  }

  /** Resolves when all server processes have ended. */
  async close(): Promise<void> {
    for (const [key, server] of this.#servers) this.#end(key, server);
    await Promise.all(this.#closing);
  }

  #end(key: string, server: Server): void {
    this.#servers.delete(key);
    const closing = server.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  #all(): Server[] {
    return [...this.#servers.values()];
  }

  #freeName(name: string): string {
    let free = name;
    for (let n = 2; this.#all().some((server) => server.name === free); n++) free = `${name}_${n}`;
    return free;
  }
}

/** Those whose name nobody has. */
function withoutNames(servers: readonly McpServer[], others: readonly McpServer[]): McpServer[] {
  const names = new Set(others.map((server) => server["name"]));
  return servers.filter((server) => !names.has(server["name"]));
}

/** The same for the same description, also when servers before it come and go. */
function keyOf(server: McpServer, all: readonly McpServer[]): string {
  const text = JSON.stringify(server);
  const same = all.filter((each) => JSON.stringify(each) === text);
  return `${same.indexOf(server)} ${text}`;
}

async function report(turn: Turn, text: string): Promise<void> {
  const [title = "", ...more] = text.split("\n");
  if (turn.client.capabilities.notices) await turn.notice("warning", title, more.join("\n") || undefined);
  else await turn.think(`${text}\n`);
}
