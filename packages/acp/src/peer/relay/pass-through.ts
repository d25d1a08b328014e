// Passes messages between two peers of one version unread, with back-pressure.

import { type Deadline, deadline } from "../../base/deadline.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import type { EndReason, Fault, Sink } from "../../jsonrpc/transport.ts";
import { refusalOf } from "../../jsonrpc/unread-frame.ts";
import type { Splice } from "./splice.ts";

/** How long an agent may be silent after the client's end of input before it is closed. */
const farewellMs = 3_000;

/** Resolves when one of the two has ended and both are closed. */
export function passThrough(client: Splice, agent: Splice, log: Log): Promise<EndReason> {
  return new Promise((resolve) => new Passage(client, agent, log, resolve).begin());
}

class Passage {
  readonly #client: Splice;
  readonly #agent: Splice;
  readonly #log: Log;
  readonly #over: (reason: EndReason) => void;
  #isOver = false;
  #clientEnded: EndReason | undefined;
  #farewell: Deadline;

  constructor(client: Splice, agent: Splice, log: Log, over: (reason: EndReason) => void) {
    this.#client = client;
    this.#agent = agent;
    this.#log = log;
    this.#over = over;
  }

  begin(): void {
    const client = this.#client;
    const agent = this.#agent;
    client.read({
      message: (value, text) => this.#fromClient(agent.send(value as object, text)), // an object or an array
      idle: () => undefined,
      reject: (fault) => {
        const { to, message } = refusalOf(fault);
        if (to === "sender") client.send(message);
        else agent.send(message);
      },
      drain: () => agent.resume(),
      end: (reason) => this.#clientEnds(reason),
    } satisfies Sink);
    agent.read({
      message: (value, text) => this.#fromAgent(client.send(value as object, text)),
      idle: () => undefined,
      reject: (fault) => this.#unreadOfAgent(fault),
      drain: () => client.resume(),
      end: (reason) => this.#end(this.#clientEnded ?? reason),
    } satisfies Sink);
    this.#passLines();
  }

  /** Passes whole lines where both sides write lines. */
  #passLines(): void {
    const ofClient = this.#client.lines();
    const ofAgent = this.#agent.lines();
    if (ofClient === undefined || ofAgent === undefined) return;
    ofClient.receive((lines) => this.#fromClient(ofAgent.send(lines)));
    ofAgent.receive((lines) => this.#fromAgent(ofClient.send(lines)));
  }

  /** An agent may print anything; but whoever waits for an answer gets one. */
  #unreadOfAgent(fault: Fault): void {
    const { to, message } = refusalOf(fault);
    this.#log("warn", "skipped what the agent printed", {
      kind: fault.kind,
      bytes: fault.bytes,
      head: fault.head.slice(0, 200),
    });
    if (to === "receiver") this.#client.send(message);
    else if ("id" in message && message.id !== null) this.#agent.send(message);
  }

  #fromClient(hasRoom: boolean): void {
    if (!hasRoom) this.#client.pause();
  }

  #fromAgent(hasRoom: boolean): void {
    if (!hasRoom) this.#agent.pause();
    if (this.#clientEnded !== undefined) this.#waitForFarewell();
  }

  /** Ends the agent's input with the client's. What the agent still sends is passed on. */
  #clientEnds(reason: EndReason): void {
    if (reason.kind !== "eof") return this.#end(reason);
    this.#clientEnded = reason;
    this.#agent.endOutput();
    this.#waitForFarewell();
  }

  #waitForFarewell(): void {
    clearTimeout(this.#farewell);
    this.#farewell = deadline(farewellMs, () => this.#end(this.#clientEnded ?? { kind: "eof" }));
  }

  #end(reason: EndReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#farewell);
    void Promise.allSettled([this.#client.close(), this.#agent.close()]).then(() => this.#over(reason));
  }
}
