// Offers a version 1 client's files and terminals to a version 2 agent, as an MCP server per session.

import { clientFiles } from "../agent/turn/client-files.ts";
import type { AskClient } from "../agent/turn/client-services.ts";
import { clientTerminals } from "../agent/turn/client-terminals.ts";
import type { ClientConnection } from "../client/client-connection.ts";
import type { ClientToolServices, ClientTools } from "./relay-options.ts";
import type { RelayContext } from "./relayed-session.ts";

export class ClientToolbox {
  readonly #relay: RelayContext;
  readonly #agent: ClientConnection;
  readonly #kept = new Map<string, ClientTools>();

  constructor(relay: RelayContext, agent: ClientConnection) {
    this.#relay = relay;
    this.#agent = agent;
  }

  /** Undefined where the client offers none, the agent takes no such server, or the relay makes none. */
  async open(cwd: string, sessionId: () => string | undefined): Promise<ClientTools | undefined> {
    const { wire, options } = this.#relay;
    const {
      readTextFile: readFiles,
      writeTextFile: writeFiles,
      terminal: terminals,
    } = wire.client.capabilities;
    const isWanted = this.#agent.edition === "v2" && this.#agent.capabilities.mcpStdio;
    if (options.clientTools === undefined || !isWanted || !(readFiles || writeFiles || terminals))
      return undefined;
    const ask: AskClient = (method, params, signal, receive) =>
      wire.request(method, params, { signal, receive });
    const at = () => ({
      sessionId: known(),
      ask,
      dialect: wire.dialect,
      terminalOutput: wire.terminalOutput,
    });
    const known = (): string => {
      const id = sessionId();
      if (id === undefined) throw new Error("the session is not open yet: use its tools once it is");
      return id;
    };
    const services: ClientToolServices = {
      cwd,
      canRead: readFiles,
      canWrite: writeFiles,
      canRunCommands: terminals,
      files: () => clientFiles(at(), { read: readFiles, write: writeFiles }),
      terminals: () => clientTerminals(at(), { created: ignore, released: ignore }),
    };
    try {
      return await options.clientTools(services);
    } catch (error) {
      // the session opens without them
      this.#relay.wire.log("error", "the client's files and terminals cannot be offered to the agent", {
        error,
      });
      return undefined;
    }
  }

  /** Keeps the tools until the session ends. */
  keep(sessionId: string, tools: ClientTools): void {
    const before = this.#kept.get(sessionId);
    this.#kept.set(sessionId, tools);
    if (before !== undefined) this.#end(before);
  }

  async drop(sessionId: string): Promise<void> {
    const tools = this.#kept.get(sessionId);
    this.#kept.delete(sessionId);
    await tools?.close();
  }

  async close(): Promise<void> {
    const all = [...this.#kept.values()];
    this.#kept.clear();
    await Promise.all(all.map((tools) => tools.close()));
  }

  #end(tools: ClientTools): void {
    tools.close().catch((error: unknown) => {
      this.#relay.wire.log("error", "closing a session's tools failed", { error });
    });
  }
}

/** The client knows its terminals; the agent never sees their ids. */
const ignore = (): void => undefined;
