// A version 1 client's files and terminals for a version 2 agent, which has no word for them: as an MCP server
// per session that somebody outside makes and that the agent is given like any other.

import type { AgentWire } from "../agent/agent-wire.ts";
import { type AskClient, clientFiles, clientTerminals } from "../agent/turn/remote-services.ts";
import type { ConnectedAgent } from "../client/connected-agent.ts";
import type { ClientToolServices, ClientTools, RelayOptions } from "./relay-options.ts";

export class ClientToolbox {
  readonly #front: () => AgentWire;
  readonly #agent: ConnectedAgent;
  readonly #make: RelayOptions["clientTools"];
  readonly #kept = new Map<string, ClientTools>();

  constructor(front: () => AgentWire, agent: ConnectedAgent, { clientTools }: RelayOptions) {
    this.#front = front;
    this.#agent = agent;
    this.#make = clientTools;
  }

  /** Nothing where the client offers nothing, the agent takes no such server, or nobody makes one. */
  async open(cwd: string, sessionId: () => string | undefined): Promise<ClientTools | undefined> {
    const { readFiles, writeFiles, terminals } = this.#front().client.features;
    const isWanted = this.#agent.version === 2 && this.#agent.features.mcpStdio;
    if (this.#make === undefined || !isWanted || !(readFiles || writeFiles || terminals)) return undefined;
    const ask: AskClient = (method, params, signal) =>
      this.#front().request(method, params, signal === undefined ? {} : { signal });
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
      files: () => clientFiles(known(), ask, { read: readFiles, write: writeFiles }),
      terminals: () => clientTerminals(known(), ask, ignore, ignore),
    };
    try {
      return await this.#make(services);
    } catch (error) {
      // a session without them is worth more than none
      this.#front().log("error", "the client's files and terminals cannot be offered to the agent", {
        error,
      });
      return undefined;
    }
  }

  /** They live as long as the session does. */
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
      this.#front().log("error", "closing a session's tools failed", { error });
    });
  }
}

/** The client knows its terminals; the agent never sees their ids. */
const ignore = (): void => undefined;
