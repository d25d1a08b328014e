// A proxy on a connection of its own, in its place of a chain: finds out how it speaks, and looks after it.

import { isObject } from "../../base/objects.ts";
import { policyKey } from "../../base/parley-extensions.ts";
import { answeredVersion } from "../../edition/negotiate.ts";
import type { Call } from "../../forward/call.ts";
import { goneError, nobody, type Port, type Taker, type WireError } from "../../forward/port.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import type { ConnectionError } from "../../jsonrpc/errors.ts";
import type { PassedAnswer } from "../../jsonrpc/passed-call.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { type ChainComponent, isPolicy } from "./component.ts";
import { currentGeneration, type Generation, underscoredGeneration } from "./generations.ts";
import { Restarts } from "./restarts.ts";
import { portTo, type Stage, type StageHost } from "./stage.ts";
import { SuccessorPeer } from "./successor-peer.ts";
import { WaitingRoom } from "./waiting-room.ts";

/** How the commands of this process have turned out to speak. */
const known = new WeakMap<ChainComponent["start"], Generation>();

/** The handshake of a chain, as it passed here. */
interface Handshake {
  readonly call: Call;
  /** What the successor answered. */
  answer: PassedAnswer | undefined;
  text: string | undefined;
}

/** One try to introduce a component. */
interface Attempt {
  readonly handshake: Handshake;
  readonly taker: Taker;
  /** The answer of the successor is known, and not asked for again. */
  readonly isAgain: boolean;
  hasAskedSuccessor: boolean;
  hasFallenBack: boolean;
  isOver: boolean;
}

export class ComponentStage implements Stage {
  readonly name: string;
  readonly fromClient: Port;
  readonly fromAgent: Port;
  readonly #component: ChainComponent;
  readonly #start: () => Transport;
  readonly #host: StageHost;
  readonly #log: Log;
  readonly #rooms: { readonly client: WaitingRoom; readonly agent: WaitingRoom };
  readonly #restarts = new Restarts();
  #to: { readonly client: Port; readonly agent: Port } = { client: nobody, agent: nobody };
  #peer: SuccessorPeer | undefined;
  #handshake: Handshake | undefined;
  #attempt: Attempt | undefined;
  #isBypassed = false;
  #isClosed = false;

  constructor(component: ChainComponent, start: () => Transport, host: StageHost, log: Log) {
    this.name = component.name;
    this.#component = component;
    this.#start = start;
    this.#host = host;
    this.#log = log;
    const overflowed = (): void => host.failed(`${this.name}: too much waits for it`);
    const wanted = (): void => this.#again();
    const room = (port: () => Port) => new WaitingRoom(port, { overflowed, wanted });
    this.#rooms = {
      client: room(() => (this.#isBypassed ? this.#to.agent : (this.#peer?.port ?? nobody))),
      agent: room(() => (this.#isBypassed ? this.#to.client : (this.#peer?.successor.port ?? nobody))),
    };
    this.fromAgent = this.#rooms.agent;
    const { client } = this.#rooms;
    this.fromClient = {
      notify: (call) => client.notify(call),
      request: (call, taker) =>
        call.method === "initialize" ? this.#introduce(call, taker) : client.request(call, taker),
      unread: (text) => client.unread(text),
    };
  }

  connect(to: { readonly client: Port; readonly agent: Port }): void {
    this.#to = to;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#peer?.close("the chain has ended");
  }

  #introduce(call: Call, taker: Taker): () => void {
    if (this.#isBypassed) return this.#to.agent.request(call, taker);
    const handshake: Handshake = { call, answer: undefined, text: undefined };
    this.#handshake = handshake;
    return this.#try({ handshake, taker, isAgain: false });
  }

  /** Starts it, if it does not run, and sends it its first message. Returns what cancels that. */
  #try(given: Pick<Attempt, "handshake" | "taker" | "isAgain">): () => void {
    const attempt: Attempt = { ...given, hasAskedSuccessor: false, hasFallenBack: false, isOver: false };
    this.#attempt = attempt;
    const remembered = known.get(this.#component.start);
    attempt.hasFallenBack = remembered !== undefined;
    let cancel = (): void => undefined;
    try {
      const peer = this.#peer ?? this.#run(remembered ?? currentGeneration);
      cancel = this.#ask(peer, attempt);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#give(attempt, { error: goneError(this.name, new Error(message)) });
    }
    return () => cancel();
  }

  #ask(peer: SuccessorPeer, attempt: Attempt): () => void {
    return peer.proxyPort.request(attempt.handshake.call, (answer, text) => {
      // it was asked again in another way, or on another connection
      if (attempt.isOver || this.#peer !== peer) return;
      const { error } = answer;
      if (error === undefined || attempt.hasAskedSuccessor) return this.#introduced(attempt, answer, text);
      const { code } = (isObject(error) ? error : {}) as { readonly code?: unknown };
      const isUnknown = code === errorCodes.method_not_found;
      // one that does not know the first message may take nothing more on that connection
      if (!attempt.hasFallenBack && (isUnknown || code === errorCodes.invalid_request))
        return this.#fallBack(peer, attempt, isUnknown);
      this.#give(attempt, answer, text);
    });
  }

  /** It does not know the first message: it may be of an earlier generation. */
  #fallBack(peer: SuccessorPeer, attempt: Attempt, isAlive: boolean): void {
    attempt.hasFallenBack = true;
    this.#log("info", "a component does not know proxy/initialize: it is asked as proxies were before", {
      component: this.name,
      again: !isAlive,
    });
    if (isAlive) {
      peer.speaks(underscoredGeneration);
      this.#ask(peer, attempt);
      return;
    }
    this.#peer = undefined;
    void peer.close("it is started again");
    try {
      this.#ask(this.#run(underscoredGeneration), attempt);
    } catch (cause) {
      this.#give(attempt, {
        error: goneError(this.name, cause instanceof Error ? cause : new Error(String(cause))),
      });
    }
  }

  /** It has answered the first message. */
  #introduced(attempt: Attempt, answer: PassedAnswer, text: string | undefined): void {
    if (answer.error !== undefined) return this.#give(attempt, answer, text);
    const { handshake } = attempt;
    const asked = attempt.isAgain || (handshake.answer !== undefined && handshake.answer.error === undefined);
    const wrong = asked ? this.#wrongAnswer(handshake, answer.result) : this.#tooEarly();
    if (wrong === undefined) {
      if (this.#peer !== undefined) known.set(this.#component.start, this.#peer.generation);
      return this.#give(attempt, answer, text);
    }
    this.#log("error", wrong, { component: this.name });
    const error: WireError = {
      code: errorCodes.invalid_request,
      message: wrong,
      data: { reason: "bad_component", component: this.name },
    };
    this.#give(attempt, { error });
  }

  #tooEarly(): string {
    return `${this.name} answered initialize before its successor had: a proxy must send initialize to its successor first`;
  }

  #wrongAnswer({ answer }: Handshake, result: unknown): string | undefined {
    const [expected, got] = [answeredVersion(answer?.result), answeredVersion(result)];
    if (got !== expected)
      return `${this.name} changed the protocol version from ${String(expected)} to ${String(got)}: a proxy must leave it as it is`;
    const meta = isObject(result) ? result["_meta"] : undefined;
    const saysPolicy = isObject(meta) && meta[policyKey] === true;
    if (saysPolicy && !isPolicy(this.#component) && this.#component.onExit === "bypass")
      return `${this.name} says that it decides what is allowed: it cannot be bypassed; set onExit to "restart" or "fail"`;
    return undefined;
  }

  /** The end of an attempt. */
  #give(attempt: Attempt, answer: PassedAnswer, text?: string): void {
    if (attempt.isOver) return;
    attempt.isOver = true;
    this.#attempt = undefined;
    attempt.taker(answer, text);
    if (answer.error !== undefined) return;
    this.#rooms.client.open();
    this.#rooms.agent.open();
  }

  #run(generation: Generation): SuccessorPeer {
    const peer = new SuccessorPeer(this.#start(), {
      name: this.name,
      generation,
      noise: "skip",
      log: this.#log,
    });
    this.#peer = peer;
    peer.intake = portTo(() => this.#to.client);
    peer.successor.intake = this.#successor();
    peer.wrappedInitialize = (generationOfIt) => {
      const attempt = this.#attempt;
      // it passed on what it does not know, so its proxies are of an earlier generation
      if (attempt === undefined || attempt.hasFallenBack || generationOfIt !== underscoredGeneration) return;
      queueMicrotask(() => this.#fallBack(peer, attempt, true));
    };
    void peer.connection.closed.then((reason) => {
      if (this.#peer === peer && !this.#isClosed) this.#lost(reason);
    });
    return peer;
  }

  /** What it sends to its successor. */
  #successor(): Port {
    return {
      notify: (call) => this.#to.agent.notify(call),
      unread: (text) => this.#to.agent.unread(text),
      request: (call, taker) => {
        const attempt = this.#attempt;
        if (call.method !== "initialize" || attempt === undefined) return this.#to.agent.request(call, taker);
        const { handshake } = attempt;
        attempt.hasAskedSuccessor = true;
        if (handshake.answer !== undefined) {
          taker(handshake.answer, handshake.text);
          return () => undefined;
        }
        return this.#to.agent.request(call, (answer, text) => {
          handshake.answer = answer;
          handshake.text = text;
          taker(answer, text);
        });
      },
    };
  }

  #lost(reason: ConnectionError): void {
    this.#peer = undefined;
    this.#rooms.client.close();
    this.#rooms.agent.close();
    const attempt = this.#attempt;
    const { onExit = "fail" } = this.#component;
    this.#log("error", `${this.name} has gone`, { reason: reason.message, onExit });
    if (attempt !== undefined && !attempt.hasFallenBack && !attempt.hasAskedSuccessor)
      return this.#fallBackAfterLoss(attempt, reason);
    if (onExit === "bypass") return this.#bypass(attempt);
    if (onExit === "fail" || this.#restarts.isTooOften) {
      if (attempt !== undefined) this.#give(attempt, { error: goneError(this.name, reason) });
      const often = onExit === "restart" ? `, ${this.#restarts.limit} times in a minute` : "";
      return this.#host.failed(`${this.name} has gone${often}: ${reason.message}`);
    }
    if (attempt === undefined) return;
    this.#restarts.note();
    this.#attempt = undefined;
    this.#try({ ...attempt, isAgain: attempt.isAgain || attempt.handshake.answer !== undefined });
  }

  /** One that ends at the first message may be of an earlier generation, or broken. */
  #fallBackAfterLoss(attempt: Attempt, reason: ConnectionError): void {
    attempt.hasFallenBack = true;
    if (reason.kind === "spawn_failed") {
      this.#give(attempt, { error: goneError(this.name, reason) });
      return this.#host.failed(`${this.name} cannot be started: ${reason.message}`);
    }
    try {
      this.#ask(this.#run(underscoredGeneration), attempt);
    } catch {
      this.#give(attempt, { error: goneError(this.name, reason) });
    }
  }

  #bypass(attempt: Attempt | undefined): void {
    this.#isBypassed = true;
    this.#attempt = undefined;
    this.#rooms.client.open();
    this.#rooms.agent.open();
    if (attempt === undefined || attempt.isOver) return;
    attempt.isOver = true;
    const { answer, text, call } = attempt.handshake;
    if (answer === undefined) this.#to.agent.request(call, attempt.taker);
    else attempt.taker(answer, text);
  }

  /** Something waits for it. */
  #again(): void {
    const handshake = this.#handshake;
    if (this.#attempt !== undefined || handshake === undefined || this.#isClosed) return;
    const failed = (error: unknown): void => {
      for (const room of Object.values(this.#rooms)) room.fail(error as object); // an error of the wire
      this.#host.failed(`${this.name} could not be started again`);
    };
    if (this.#peer !== undefined || handshake.answer === undefined) return;
    this.#restarts.note();
    this.#log("info", `${this.name} is started again`, {});
    this.#try({
      handshake,
      isAgain: true,
      taker: ({ error }) => {
        if (error !== undefined) failed(error);
      },
    });
  }
}
