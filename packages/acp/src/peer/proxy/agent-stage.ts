// The agent at the end of a chain: looks after it, and takes its sessions up again after a restart.

import { isObject } from "../../base/objects.ts";
import { answeredVersion } from "../../edition/negotiate.ts";
import { Call } from "../../forward/call.ts";
import { Peer } from "../../forward/peer.ts";
import {
  goneError,
  nobody,
  type Port,
  type Room,
  type Taker,
  type WireError,
  whyGone,
} from "../../forward/port.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import type { ConnectionError } from "../../jsonrpc/errors.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { methodTable } from "../../wire/methods.gen.ts";
import type { ChainStageComponent } from "./component.ts";
import { acpFacts } from "./facts.ts";
import { Restarts } from "./restarts.ts";
import { noChainWords, portTo, type Stage, type StageHost } from "./stage.ts";
import { WaitingRoom } from "./waiting-room.ts";

export class AgentStage implements Stage {
  readonly name: string;
  readonly isPolicy = false;
  readonly fromClient: Port;
  readonly fromAgent = nobody;
  readonly #component: ChainStageComponent;
  readonly #start: () => Transport;
  readonly #host: StageHost;
  readonly #log: Log;
  readonly #room: WaitingRoom;
  readonly #restarts = new Restarts();
  #toClient: Port = nobody;
  #peer: Peer | undefined;
  #initialize: Call | undefined;
  #canResume = false;
  #canLoad = false;
  /** The params that opened each session, to open it again. */
  readonly #sessions = new Map<string, Readonly<Record<string, unknown>>>();
  /** Sessions that were open before the agent was restarted. Messages for each wait until it is open again. */
  readonly #lost = new Map<string, WaitingRoom>();
  #version: number | undefined;
  readonly #facts = acpFacts(() => this.#version);
  /** Sessions whose history comes again: the client has it. */
  readonly #loading = new Set<string>();
  #isStarting = false;
  #isClosed = false;

  constructor(component: ChainStageComponent, start: () => Transport, host: StageHost, log: Log) {
    this.name = component.name;
    this.#component = component;
    this.#start = start;
    this.#host = host;
    this.#log = log;
    this.#room = new WaitingRoom({
      port: () => (this.#peer?.connection.isOpen === true ? this.#peer.port : undefined),
      overflowed: () => host.failed(`${this.name}: too much waits for it`),
      wanted: () => this.#again(),
    });
    this.fromClient = {
      notify: (call) => this.#notify(call),
      request: (call, taker) => this.#request(call, taker),
      unread: () => this.#room.unread(),
    };
  }

  connect({ client }: { readonly client: Port }): void {
    this.#toClient = client;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#peer?.close("the chain has ended");
  }

  #notify(call: Call): Room {
    const lost = this.#lost.get(this.#facts.session(call.params) ?? "");
    if (lost === undefined || lost.isEmpty) return this.#room.notify(call);
    if (!this.#facts.cancels(call.method)) return lost.notify(call);
    lost.withdraw(this.#facts.withdrawn);
    return undefined;
  }

  #request(call: Call, taker: Taker): () => void {
    if (call.method === "initialize") return this.#introduce(call, taker);
    const sessionId = this.#facts.session(call.params);
    const { session } = methodTable.get(call.method) ?? {};
    // a request that opens or ends a session need not wait for it
    const isFree = session === "attaches" || session === "closes";
    const lost = isFree || sessionId === undefined ? undefined : this.#lost.get(sessionId);
    return (lost ?? this.#room).request(call, this.#noting(call, sessionId, taker));
  }

  /** Keeps the messages for a session until it is open again. The first message makes the agent open it. */
  #lostRoom(sessionId: string): WaitingRoom {
    let isOpening = false;
    const room = new WaitingRoom({
      port: () => this.#room,
      overflowed: () => this.#host.failed(`${this.name}: too much waits for it`),
      wanted: () => {
        if (isOpening) return;
        isOpening = true;
        this.#reopen(sessionId, (error) => {
          isOpening = false;
          if (error !== undefined) return room.fail(error);
          if (this.#lost.get(sessionId) === room) this.#lost.delete(sessionId);
          room.open();
        });
      },
    });
    return room;
  }

  #reopen(sessionId: string, done: (error: WireError | undefined) => void): void {
    const params = this.#sessions.get(sessionId);
    const method = this.#canResume ? "session/resume" : this.#canLoad ? "session/load" : undefined;
    if (params === undefined || method === undefined) {
      const message = `${this.name} was started again and cannot continue the session ${sessionId}: open a new one`;
      const data = { reason: "session_lost", component: this.name };
      return done({ code: errorCodes.unavailable, message, data });
    }
    if (method === "session/load") this.#loading.add(sessionId);
    this.#room.request(new Call(method, { ...params, sessionId }), ({ error }) => {
      this.#loading.delete(sessionId);
      done(error as WireError | undefined); // as: an error of the agent, passed on as it came
    });
  }

  /** Keeps what a restart needs. */
  #noting(call: Call, named: string | undefined, taker: Taker): Taker {
    const { session } = methodTable.get(call.method) ?? {};
    if (session === undefined || session === "about") return taker;
    return (answer, text) => {
      if (answer.error === undefined) {
        const made = isObject(answer.result) ? answer.result["sessionId"] : undefined;
        const sessionId = session === "opens" ? made : named;
        if (typeof sessionId === "string") {
          this.#lost.delete(sessionId);
          if (session === "closes") {
            this.#sessions.delete(sessionId);
            this.#component.sessionEnded?.(sessionId);
          } else if (isObject(call.params)) this.#sessions.set(sessionId, setupOf(call.params));
        }
      }
      taker(answer, text);
    };
  }

  #introduce(call: Call, taker: Taker): () => void {
    this.#initialize = call;
    try {
      const peer = this.#peer ?? this.#run();
      return peer.port.request(call, (answer, text) => {
        this.#noteAgent(answer.result);
        taker(answer, text);
        // after an error too: it answers what comes in its own words
        if (peer.connection.isOpen) this.#room.open();
        else if (answer.error !== undefined) this.#room.fail(answer.error as WireError); // made here
      });
    } catch (error) {
      taker({ error: goneError(this.name, error) });
      return () => undefined;
    }
  }

  #noteAgent(result: unknown): void {
    const { agentCapabilities: one, capabilities: two } = (result ?? {}) as {
      readonly agentCapabilities?: { loadSession?: unknown; sessionCapabilities?: { resume?: unknown } };
      readonly capabilities?: { session?: unknown };
    };
    this.#canLoad = one?.loadSession === true;
    this.#version = answeredVersion(result);
    this.#canResume = one?.sessionCapabilities?.resume != null || two?.session != null;
  }

  #run(): Peer {
    const peer = new Peer(this.#start(), {
      name: this.name,
      noise: "skip",
      batches: "reject",
      unread: "session/update",
      // one that sends nothing more has no use for answers
      drainMs: 0,
      stallMs: this.#component.stallMs,
      log: this.#log,
    });
    this.#peer = peer;
    peer.intake = this.#fromPeer(noChainWords(portTo(() => this.#toClient)));
    void peer.connection.closed.then((reason) => {
      if (this.#peer === peer && !this.#isClosed) this.#gone(reason);
    });
    return peer;
  }

  #fromPeer(client: Port): Port {
    return {
      notify: (call) => {
        const { sessionId } = (isObject(call.params) ? call.params : {}) as { readonly sessionId?: string };
        if (this.#loading.size > 0 && sessionId !== undefined && this.#loading.has(sessionId))
          return undefined;
        return client.notify(call);
      },
      request: (call, taker) => client.request(call, taker),
      unread: () => (this.#loading.size > 0 ? undefined : client.unread()),
    };
  }

  #gone(reason: ConnectionError): void {
    this.#peer = undefined;
    this.#room.close();
    const { onExit = "fail" } = this.#component;
    this.#log("error", `${this.name} has gone`, { reason: whyGone(reason), onExit });
    if (onExit !== "restart" || this.#restarts.isTooOften)
      return this.#host.failed(`${this.name} has gone: ${whyGone(reason)}`);
    for (const sessionId of this.#sessions.keys())
      if (!this.#lost.has(sessionId)) this.#lost.set(sessionId, this.#lostRoom(sessionId));
    if (this.#isStarting) this.#failAgain(goneError(this.name, reason));
    if (!this.#room.isEmpty) this.#again();
  }

  /** Something waits for it. */
  #again(): void {
    const call = this.#initialize;
    if (this.#isStarting || this.#isClosed || this.#peer !== undefined || call === undefined) return;
    this.#isStarting = true;
    this.#restarts.note();
    this.#log("info", `${this.name} is started again`, {});
    try {
      this.#run().port.request(call, ({ error }) => {
        if (error !== undefined) return this.#failAgain(error);
        this.#isStarting = false;
        this.#room.open();
      });
    } catch (error) {
      this.#failAgain(goneError(this.name, error));
    }
  }

  #failAgain(error: unknown): void {
    if (!this.#isStarting) return;
    this.#isStarting = false;
    this.#room.fail(error as WireError); // as it came
  }
}

/** What opens the session again: the same params, whatever was asked of it at first. */
function setupOf(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { sessionId: _, replayFrom: __, ...setup } = params;
  return setup;
}
