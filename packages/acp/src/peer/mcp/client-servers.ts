// The MCP servers that a client gives to its sessions: declares them to the agent, and answers what it asks them.

import type { Activation } from "../../edition/agent-edition.ts";
import { callSafely } from "../../jsonrpc/callbacks.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { argumentText, RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { McpServer } from "../../model/content.ts";
import type { McpBridge, McpKit, McpParams, McpProvider } from "../../model/mcp.ts";
import { newId } from "../base/new-id.ts";
import { ConnectedCallers } from "./connected-callers.ts";
import { bindingError, carried, messageMethod } from "./mcp-wire.ts";
import { isProvider, OfferedServer, type ToolUse } from "./offered-server.ts";
import { type McpReceipt, ServerReceipt } from "./receipts.ts";

/** What is known of the connection, and what it does for servers. */
export interface ClientServersParts {
  /** The name of the server that tools become. */
  readonly name: string;
  readonly kit: McpKit | undefined;
  readonly agent: { readonly native: boolean; readonly http: boolean; readonly stdio: boolean };
  readonly receiptMs: number;
  readonly log: Log;
  receipt?: ((receipt: McpReceipt) => unknown) | undefined;
  /** Undefined where everything is allowed. */
  permit?:
    | ((sessionId: string | undefined, use: ToolUse, signal: AbortSignal) => Promise<() => void>)
    | undefined;
  /** Sends a message that is not of the current generation. */
  notifyOlder(method: string, params: object): void;
  notify(method: string, params: object): unknown;
}

/** Params of a request of the current generation, validated by the method's row. */
interface Message {
  readonly serverId: string;
  readonly requestId: string;
  readonly method: string;
  readonly params?: McpParams | null;
}

interface Closable {
  readonly closed: Promise<unknown>;
}

/** A session that is being opened. Its id is known when it is loaded or resumed. */
interface OpeningPlace {
  readonly opening: Activation;
  readonly sessionId: string | undefined;
}

export class ClientServers {
  readonly #parts: ClientServersParts;
  /** By their ids. An id is given once and never again. */
  readonly #native = new Map<string, OfferedServer>();
  readonly #active = new Set<string>();
  readonly #sets = new Set<SessionTools>();
  readonly #callers: ConnectedCallers;
  #bridge: McpBridge | undefined;

  constructor(parts: ClientServersParts) {
    this.#parts = parts;
    this.#callers = new ConnectedCallers({
      find: (serverId) => this.#find(serverId),
      notify: parts.notifyOlder,
    });
  }

  /** `taken`: the names of the other servers of the session. */
  async #declare(
    method: string,
    tools: readonly object[],
    {
      cwd,
      sessionId,
      taken,
    }: { readonly cwd: string; readonly sessionId: string | undefined; readonly taken: readonly string[] },
  ): Promise<SessionTools> {
    const { log, permit, receipt } = this.#parts;
    const set = new SessionTools(sessionId, this.#parts.receiptMs, () => this.#sets.delete(set));
    this.#sets.add(set);
    try {
      const names = new Set(taken);
      const given = this.#providers(method, tools);
      for (const { provider, isOurs } of given)
        if (isOurs) set.add(undefined, async () => provider.close?.());
      for (const { provider } of given) {
        const told = new ServerReceipt(provider.name, (facts) => {
          if (facts.state === "silent") log("warn", silent(facts), { sessionId: facts.sessionId });
          callSafely(
            () => receipt?.(facts),
            (error) => log("error", "mcpReceipt failed", { error }),
          );
        });
        const offered = new OfferedServer(provider, {
          log,
          exposesErrors: true,
          sessionId: () => set.sessionId,
          used: (asked, answer) => told.used(asked, answer),
          ...(permit && { permit: (use, signal) => permit(set.sessionId, use, signal) }),
        });
        set.add(told, () => offered.close());
        set.servers.push(await this.#declared(method, offered, set, cwd, names));
      }
      return set;
    } catch (error) {
      await set.close();
      throw error;
    }
  }

  /** Opens a session with its tools. They are reachable before the agent hears of them, and end with the session. */
  open<Session extends Closable>(
    method: string,
    tools: readonly object[] | undefined,
    place: OpeningPlace,
    open: (opening: Activation, tools?: SessionTools) => Promise<Session>,
  ): Promise<Session> {
    return tools?.length ? this.#open(method, tools, place, open) : open(place.opening);
  }

  async #open<Session extends Closable>(
    method: string,
    tools: readonly object[],
    { opening, sessionId }: OpeningPlace,
    open: (opening: Activation, tools: SessionTools) => Promise<Session>,
  ): Promise<Session> {
    const { cwd, mcpServers } = opening;
    const set = await this.#declare(method, tools, {
      cwd,
      sessionId,
      taken: mcpServers.map(({ name }) => String(name)),
    });
    try {
      const session = await open({ ...opening, mcpServers: [...mcpServers, ...set.servers] }, set);
      void session.closed.then(() => set.close());
      return session;
    } catch (error) {
      await set.close();
      throw error;
    }
  }

  /** A session was opened, or opened again: only the tools of now are its own. */
  opened(sessionId: string, tools: SessionTools | undefined): void {
    for (const set of this.#sets)
      if (set !== tools && set.isOpen && set.sessionId === sessionId) void set.close();
    tools?.opened(sessionId);
  }

  /** Whether the agent sends MCP with a method that is not in the table of its version. */
  isOlder(method: string, params: unknown): boolean {
    return this.#callers.has(method, params);
  }

  answerOlder(method: string, params: unknown, request: IncomingRequest): unknown {
    return this.#callers.answer(method, params, request);
  }

  /** Answers a request of the current generation. */
  async answer(given: object, { signal }: IncomingRequest): Promise<object> {
    const { serverId, requestId, method, params } = given as Message;
    const server = this.#find(serverId);
    const pair = JSON.stringify([serverId, requestId]);
    if (this.#active.has(pair)) {
      const message = `${messageMethod}: a request ${argumentText(requestId)} of this server is still running`;
      throw RequestError.invalidParams(message, "/requestId");
    }
    this.#active.add(pair);
    const notify = (notice: string, facts: McpParams | undefined) =>
      void this.#parts.notify(messageMethod, {
        serverId,
        requestId,
        method: notice,
        ...(facts && { params: facts }),
      });
    try {
      const call = { method, params: params ?? undefined, sessionId: undefined, requestId, signal, notify };
      return await carried(server.request(call));
    } finally {
      this.#active.delete(pair);
    }
  }

  /** The connection has ended. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#sets].map((set) => set.close()));
    await this.#bridge?.close();
  }

  #find(serverId: string): OfferedServer {
    const server = this.#native.get(serverId);
    if (server !== undefined) return server;
    throw bindingError(
      "unavailable",
      `this client has no MCP server ${argumentText(serverId)}, or its session has ended`,
    );
  }

  /** Native, else bridged. */
  async #declared(
    method: string,
    offered: OfferedServer,
    set: SessionTools,
    cwd: string,
    names: Set<string>,
  ): Promise<McpServer> {
    const { agent, kit } = this.#parts;
    if (agent.native) {
      const serverId = newId();
      this.#native.set(serverId, offered);
      set.add(undefined, async () => void this.#native.delete(serverId));
      return { type: "acp", name: offered.name, serverId };
    }
    if (kit === undefined)
      throw new TypeError(
        `${method}: this agent cannot be given tools over this connection alone: pass client({ mcp: mcpKit() }) with the ` +
          'kit of @parley/mcp, which makes a bridge; with an agent that has MCP over ACP, unstable: ["mcp_over_acp"] is enough',
      );
    this.#bridge ??= kit.bridge({ http: agent.http, stdio: agent.stdio });
    const bridged = await this.#bridge.declare(offered, { cwd, sessionId: () => set.sessionId });
    if (bridged === undefined)
      throw new TypeError(
        `${method}: this agent uses MCP servers neither by HTTP nor by stdio, so it gets no tools`,
      );
    set.add(undefined, () => bridged.close());
    // agents know these servers by their names
    let name = offered.name;
    for (let n = 2; names.has(name); n++) name = `${offered.name}-${n}`;
    names.add(name);
    return { ...bridged.server, name };
  }

  #providers(
    method: string,
    tools: readonly object[],
  ): { readonly provider: McpProvider; readonly isOurs: boolean }[] {
    const others = tools.filter((tool) => !isProvider(tool));
    const { kit, name } = this.#parts;
    const own = tools.filter(isProvider).map((provider) => ({ provider, isOurs: false }));
    if (others.length === 0) return own;
    if (kit === undefined)
      throw new TypeError(
        `${method}: tools need a kit: client({ mcp: mcpKit() }) with @parley/mcp; without one each must be an MCP ` +
          `provider, with a name and a request function`,
      );
    return [...own, ...kit.providers(others, name).map((provider) => ({ provider, isOurs: true }))];
  }
}

/** The servers that one session was given, and all that must end with it. */
export class SessionTools {
  readonly servers: McpServer[] = [];
  sessionId: string | undefined;
  isOpen = false;
  readonly #receiptMs: number;
  readonly #closed: () => void;
  readonly #receipts: ServerReceipt[] = [];
  readonly #ends: (() => Promise<void>)[] = [];
  #closing: Promise<void> | undefined;

  constructor(sessionId: string | undefined, receiptMs: number, closed: () => void) {
    this.sessionId = sessionId;
    this.#receiptMs = receiptMs;
    this.#closed = closed;
  }

  add(receipt: ServerReceipt | undefined, end: () => Promise<void>): void {
    if (receipt !== undefined) this.#receipts.push(receipt);
    this.#ends.push(end);
  }

  /** The agent has answered: the session is open. */
  opened(sessionId: string): void {
    this.sessionId = sessionId;
    this.isOpen = true;
    for (const receipt of this.#receipts) receipt.opened(sessionId, this.#receiptMs);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const receipt of this.#receipts) receipt.close();
    // the newest first: what declares a server goes before the server
    for (const end of this.#ends.toReversed()) await end().catch(() => undefined);
    this.#closed();
  }
}

function silent({ server, afterMs }: McpReceipt): string {
  return `the agent has not used the MCP server ${server} within ${afterMs} ms: it may have dropped it without a word`;
}
