// A proxy on a connection of its own, in its place of a chain: finds out how it speaks, and looks after it.

import { isObject } from "../../base/objects.ts";
import { policyKey } from "../../base/parley-extensions.ts";
import { answeredVersion } from "../../edition/negotiate.ts";
import { Call } from "../../forward/call.ts";
import type { Side } from "../../forward/frame.ts";
import { defaultStallMs } from "../../forward/peer.ts";
import { goneError, nobody, type Port, type Taker, type WireError, whyGone } from "../../forward/port.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import type { ConnectionError } from "../../jsonrpc/errors.ts";
import type { PassedAnswer } from "../../jsonrpc/passed-call.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { type ChainComponent, isPolicy } from "./component.ts";
import { currentGeneration, type Generation, underscoredGeneration } from "./generations.ts";
import { type Attempt, type Handshake, newHandshake, whileUnanswered, withoutMark } from "./handshake.ts";
import { Restarts } from "./restarts.ts";
import { noChainWords, portTo, type Stage, type StageHost } from "./stage.ts";
import { SuccessorPeer } from "./successor-peer.ts";
import { WaitingRoom } from "./waiting-room.ts";

/** How the commands of this process have turned out to speak. */
const known = new WeakMap<ChainComponent["start"], Generation>();

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
  #saysPolicy = false;

  constructor(component: ChainComponent, start: () => Transport, host: StageHost, log: Log) {
    this.name = component.name;
    this.#component = component;
    this.#start = start;
    this.#host = host;
    this.#log = log;
    const overflowed = (): void => host.failed(`${this.name}: too much waits for it`);
    const wanted = (): void => this.#again();
    const room = (to: Side, of: (peer: SuccessorPeer) => Port) => {
      const port = () => {
        if (this.#isBypassed) return this.#to[to];
        return this.#peer?.connection.isOpen === true ? of(this.#peer) : undefined;
      };
      return new WaitingRoom({ port, overflowed, wanted });
    };
    this.#rooms = {
      client: room("agent", ({ port }) => port),
      agent: room("client", ({ successor }) => successor.port),
    };
    this.fromAgent = this.#rooms.agent;
    const { client } = this.#rooms;
    this.fromClient = {
      notify: (call) => client.notify(call),
      request: (call, taker) =>
        call.method === "initialize" ? this.#introduce(call, taker) : client.request(call, taker),
      unread: () => client.unread(),
    };
  }

  get isPolicy(): boolean {
    return this.#saysPolicy || isPolicy(this.#component);
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
    const handshake = newHandshake(call);
    this.#handshake = handshake;
    return this.#try({ handshake, taker, isAgain: false });
  }

  /** Starts it, if it does not run, and sends it its first message. Returns what cancels that. */
  #try(given: Pick<Attempt, "handshake" | "taker" | "isAgain">): () => void {
    const remembered = known.get(this.#component.start);
    const attempt: Attempt = {
      ...given,
      hasAskedSuccessor: false,
      hasFallenBack: remembered !== undefined,
      isInDoubt: false,
      questions: 0,
      isOver: false,
    };
    this.#attempt = attempt;
    if (this.#peer !== undefined) return this.#ask(this.#peer, attempt);
    return this.#askNew(remembered ?? currentGeneration, attempt);
  }

  /** Starts it, and sends it its first message. */
  #askNew(generation: Generation, attempt: Attempt): () => void {
    try {
      return this.#ask(this.#run(generation), attempt);
    } catch (error) {
      this.#give(attempt, { error: goneError(this.name, error) });
      return () => undefined;
    }
  }

  #ask(peer: SuccessorPeer, attempt: Attempt): () => void {
    attempt.questions += 1;
    const question = attempt.questions;
    const { stallMs = defaultStallMs } = this.#component;
    const late = (): void => void peer.connection.close(`it has not answered initialize for ${stallMs} ms`);
    const stop = whileUnanswered(attempt, stallMs, late);
    return peer.proxyPort.request(attempt.handshake.call, (answer, text) => {
      stop();
      // it was asked again in another way, or it has gone, which is decided when its connection has closed
      if (attempt.isOver || attempt.questions !== question || !peer.connection.isOpen) return;
      const { error } = answer;
      if (error === undefined || attempt.hasAskedSuccessor) return this.#introduced(attempt, answer, text);
      const { code } = (isObject(error) ? error : {}) as { readonly code?: unknown };
      const isUnknown = code === errorCodes.method_not_found;
      // one that does not know the first message may take nothing more on that connection
      if (!attempt.hasFallenBack && (isUnknown || code === errorCodes.invalid_request))
        return this.#fallBack(peer, attempt, isUnknown);
      if (isUnknown && attempt.isInDoubt) {
        attempt.isInDoubt = false;
        peer.speaks(currentGeneration);
        this.#ask(peer, attempt);
        return;
      }
      if (isUnknown) return this.#refused(attempt, this.#notAProxy());
      this.#give(attempt, answer, text);
    });
  }

  /** It does not know the first message: it may be of an earlier generation. */
  #fallBack(peer: SuccessorPeer, attempt: Attempt, isAlive: boolean): void {
    attempt.hasFallenBack = true;
    this.#log("info", "a component does not know proxy/initialize: trying the earlier _proxy/initialize", {
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
    this.#askNew(underscoredGeneration, attempt);
  }

  /** It has answered the first message. */
  #introduced(attempt: Attempt, answer: PassedAnswer, text: string | undefined): void {
    if (answer.error !== undefined) return this.#give(attempt, answer, text);
    const { handshake } = attempt;
    const asked = attempt.isAgain || (handshake.answer !== undefined && handshake.answer.error === undefined);
    const wrong = asked ? this.#wrongAnswer(handshake, answer.result) : this.#tooEarly();
    if (wrong === undefined) {
      if (this.#peer !== undefined) known.set(this.#component.start, this.#peer.generation);
      if (!this.#saysPolicy) return this.#give(attempt, answer, text);
      return this.#give(attempt, { result: withoutMark(answer.result) });
    }
    this.#refused(attempt, wrong);
  }

  /** It is no component that a chain can have. */
  #refused(attempt: Attempt, why: string): void {
    this.#log("error", why, { component: this.name });
    const error: WireError = {
      code: errorCodes.invalid_request,
      message: why,
      data: { reason: "bad_component", component: this.name },
    };
    this.#give(attempt, { error });
  }

  #notAProxy(): string {
    return `${this.name} is not a proxy: it knows neither ${currentGeneration.initialize} nor ${underscoredGeneration.initialize}`;
  }

  #tooEarly(): string {
    return `${this.name} answered initialize before its successor had: a proxy must send initialize to its successor first`;
  }

  #wrongAnswer({ answer }: Handshake, result: unknown): string | undefined {
    const [expected, got] = [answeredVersion(answer?.result), answeredVersion(result)];
    if (got !== expected)
      return `${this.name} changed the protocol version from ${String(expected)} to ${String(got)}: a proxy must leave it as it is`;
    const meta = isObject(result) ? result["_meta"] : undefined;
    this.#saysPolicy = isObject(meta) && meta[policyKey] === true;
    if (this.#saysPolicy && this.#component.onExit === "bypass")
      return `${this.name} says that it decides what is allowed: it cannot be bypassed; set onExit to "restart" or "fail"`;
    return undefined;
  }

  /** The end of an attempt. */
  #give(attempt: Attempt, answer: PassedAnswer, text?: string): void {
    if (attempt.isOver) return;
    attempt.isOver = true;
    this.#attempt = undefined;
    attempt.taker(answer, text);
    if (answer.error !== undefined) {
      if (attempt.isAgain) return;
      const message = `${this.name} has not been initialized: initialize must succeed first`;
      const error = { code: errorCodes.invalid_request, message, data: { reason: "not_initialized" } };
      for (const room of Object.values(this.#rooms)) room.refuse(error);
      return;
    }
    this.#rooms.client.open();
    this.#rooms.agent.open();
  }

  #run(generation: Generation): SuccessorPeer {
    const peer = new SuccessorPeer(this.#start(), {
      name: this.name,
      generation,
      noise: "skip",
      // one that sends nothing more has no use for answers
      drainMs: 0,
      stallMs: this.#component.stallMs,
      log: this.#log,
    });
    this.#peer = peer;
    peer.intake = noChainWords(portTo(() => this.#to.client));
    peer.successor.intake = this.#successor(peer);
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
  #successor(peer: SuccessorPeer): Port {
    return {
      notify: (call) => this.#to.agent.notify(call),
      unread: () => this.#to.agent.unread(),
      request: (call, taker) => {
        const attempt = this.#attempt;
        if (call.method !== "initialize" || attempt === undefined) {
          const cancel = this.#to.agent.request(call, taker);
          if (call.method !== "session/prompt") return cancel;
          return () => {
            // nobody is there to hear the rest of the turn
            if (!peer.connection.isOpen) this.#cancelTurn(call);
            cancel();
          };
        }
        attempt.hasAskedSuccessor = true;
        this.#askSuccessor(attempt.handshake, call, taker);
        return () => {
          // one that is started in its place wants the same answer
          if (peer.connection.isOpen) attempt.handshake.cancel();
        };
      },
    };
  }

  /** It is asked once, however often the component is started. */
  #askSuccessor(handshake: Handshake, call: Call, taker: Taker): void {
    if (handshake.answer !== undefined) return taker(handshake.answer, handshake.text);
    handshake.takers.push(taker);
    if (handshake.takers.length > 1) return;
    handshake.cancel = this.#to.agent.request(call, (answer, text) => {
      handshake.answer = answer;
      handshake.text = text;
      for (const each of handshake.takers.splice(0)) each(answer, text);
    });
  }

  #cancelTurn({ params }: Call): void {
    const { sessionId } = (isObject(params) ? params : {}) as { readonly sessionId?: unknown };
    void this.#to.agent.notify(new Call("session/cancel", { sessionId }));
  }

  #lost(reason: ConnectionError): void {
    this.#peer = undefined;
    this.#rooms.client.close();
    this.#rooms.agent.close();
    const attempt = this.#attempt;
    const { onExit = "fail" } = this.#component;
    const isEarly = attempt !== undefined && !attempt.hasAskedSuccessor;
    // one of an earlier generation may end at the first message, and is started again
    const level = isEarly && !attempt.hasFallenBack && reason.kind !== "spawn_failed" ? "info" : "error";
    this.#log(level, `${this.name} has gone`, { reason: whyGone(reason), onExit });
    if (isEarly) {
      attempt.handshake.earlyEnds += 1;
      if (!attempt.hasFallenBack) return this.#fallBackAfterLoss(attempt, reason);
    }
    if (onExit === "bypass") return this.#bypass(attempt);
    const isBroken = (attempt?.handshake.earlyEnds ?? 0) > 1;
    if (onExit === "fail" || isBroken || this.#restarts.isTooOften) {
      if (attempt !== undefined) this.#give(attempt, { error: goneError(this.name, reason) });
      const often = onExit === "restart" && !isBroken ? `, ${this.#restarts.limit} times in a minute` : "";
      return this.#host.failed(`${this.name} has gone${often}: ${whyGone(reason)}`);
    }
    if (attempt === undefined) {
      if (!this.#rooms.client.isEmpty || !this.#rooms.agent.isEmpty) this.#again();
      return;
    }
    this.#restarts.note();
    const { handshake, taker, isAgain } = attempt;
    this.#try({ handshake, taker, isAgain });
  }

  /** One that ends at the first message may be of an earlier generation, or broken. */
  #fallBackAfterLoss(attempt: Attempt, reason: ConnectionError): void {
    attempt.hasFallenBack = true;
    attempt.isInDoubt = true;
    if (reason.kind === "spawn_failed") {
      this.#give(attempt, { error: goneError(this.name, reason) });
      return this.#host.failed(`${this.name} cannot be started: ${whyGone(reason)}`);
    }
    this.#restarts.note();
    this.#askNew(underscoredGeneration, attempt);
  }

  #bypass(attempt: Attempt | undefined): void {
    this.#isBypassed = true;
    this.#attempt = undefined;
    this.#rooms.client.open();
    this.#rooms.agent.open();
    if (attempt === undefined || attempt.isOver) return;
    attempt.isOver = true;
    this.#askSuccessor(attempt.handshake, attempt.handshake.call, attempt.taker);
  }

  /** Something waits for it. */
  #again(): void {
    const handshake = this.#handshake;
    if (this.#attempt !== undefined || handshake === undefined || this.#isClosed) return;
    const failed = (error: unknown): void => {
      for (const room of Object.values(this.#rooms)) room.fail(error as WireError); // as it came
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
