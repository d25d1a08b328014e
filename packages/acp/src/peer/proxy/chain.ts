// One client, or one conductor, with the chain of components that was started for it.

import { type Deadline, deadline } from "../../base/deadline.ts";
import { isObject, isPromiseLike } from "../../base/objects.ts";
import { policyKey } from "../../base/parley-extensions.ts";
import { answeredVersion, chooseVersion, type Editions, versionsOf } from "../../edition/negotiate.ts";
import { Call } from "../../forward/call.ts";
import type { Side } from "../../forward/frame.ts";
import { type Port, refusing } from "../../forward/port.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import { type ConnectionError, RequestError, wireParts } from "../../jsonrpc/errors.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { lateTransport } from "../../transport/late-transport.ts";
import { memoryPair } from "../../transport/memory.ts";
import { noticed } from "../../transport/wrap-transport.ts";
import { agentDialects, clientDialects } from "../dialect/dialects.ts";
import { AgentStage } from "./agent-stage.ts";
import {
  bypassRefusal,
  type ChainComponent,
  type ChainStageComponent,
  isAgent,
  isProxy,
} from "./component.ts";
import { ComponentStage } from "./component-stage.ts";
import { generationOfInitialize } from "./generations.ts";
import { type WatchHops, watched } from "./hops.ts";
import { ProxyStage } from "./proxy-stage.ts";
import type { Stage, StageHost } from "./stage.ts";
import { SuccessorPeer } from "./successor-peer.ts";

/** How long nothing may come for the client after the end of its input, before what runs for it is cancelled. */
const farewellMs = 3_000;

export interface ChainOptions {
  readonly components: readonly ChainStageComponent[];
  readonly editions: Editions | undefined;
  readonly log: Log;
  readonly watch: WatchHops | undefined;
  /** For a chain behind an agent: the name of its client, and the number of hops before it. */
  readonly firstHop?: { readonly from: string; readonly place: number };
}

type Role = "alone" | "component";

export class Chain implements StageHost {
  /** Resolves with the reason when everything has closed. */
  readonly closed: Promise<ConnectionError>;
  readonly #upstream: SuccessorPeer;
  readonly #options: ChainOptions;
  #stages: readonly Stage[] = [];
  #farewell: Deadline;
  #hasFailed = false;

  constructor(transport: Transport, options: ChainOptions) {
    this.#options = options;
    const { editions = [], log } = options;
    const spoken = agentDialects(this.#untilSilent(transport), editions, { log }).transport;
    this.#upstream = new SuccessorPeer(spoken, {
      name: "the client",
      drainMs: Number.POSITIVE_INFINITY,
      // it may be stopped for a while: the agent waits for it
      stallMs: Number.POSITIVE_INFINITY,
      log,
    });
    this.#upstream.isClient = true;
    this.#upstream.intake = this.#untilInitialize();
    this.#upstream.successor.intake = noProxy;
    void this.#upstream.ended.then(({ kind }) => {
      if (kind === "eof" && this.#upstream.connection.inFlight > 0) this.#wait();
    });
    this.closed = this.#upstream.connection.closed.then(async (reason) => {
      clearTimeout(this.#farewell);
      this.#farewell = undefined;
      await Promise.allSettled(this.#stages.map((stage) => stage.close()));
      return reason;
    });
  }

  failed(reason: string): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.log("error", "the chain ends", { event: "chain_ended", reason });
    const error = { code: errorCodes.unavailable, message: reason, data: { reason: "chain_ended" } };
    void this.#upstream.close(reason, error);
  }

  async close(reason = "the chain was closed"): Promise<void> {
    await this.#upstream.close(reason);
    await this.closed;
  }

  /** A client that has ended its output gets what it is still owed, for as long as something comes. */
  #untilSilent(transport: Transport): Transport {
    return noticed(transport, () => {
      if (this.#farewell !== undefined) this.#wait();
    });
  }

  #wait(): void {
    clearTimeout(this.#farewell);
    this.#farewell = deadline(farewellMs, () => void this.close("the client has ended its output"));
  }

  /** Nothing is started before. */
  #untilInitialize(): Port {
    const early = refusing(mustComeFirst);
    return {
      ...early,
      request: (call, taker) => {
        const generation = generationOfInitialize(call.method);
        if (generation === undefined && call.method !== "initialize") return early.request(call, taker);
        if (generation !== undefined) this.#upstream.speaks(generation);
        const role: Role = generation === undefined ? "alone" : "component";
        const started = this.#start(role);
        if (typeof started !== "string") return started.request(call.named("initialize"), taker);
        taker({
          error: { code: errorCodes.invalid_request, message: started, data: { reason: "no_chain" } },
        });
        return () => undefined;
      },
    };
  }

  /** Makes the chain. Returns where the client's messages go, or why there is no chain. */
  #start(role: Role): Port | string {
    const { components } = this.#options;
    const upstream = this.#upstream;
    upstream.isClient = role === "alone";
    const last = components.at(-1);
    if (role === "component" && last !== undefined && isAgent(last))
      return `this chain ends in ${last.name}, so it cannot be a part of another chain: leave the agent out`;
    let agent: ChainStageComponent | undefined;
    let proxies: readonly ChainComponent[] = components;
    if (role === "alone") {
      [proxies, agent] = withAgent(components);
      if (agent === undefined)
        return `${last?.name ?? "this chain"} is a proxy with no agent behind it: put an agent behind it, or make it a part of a chain`;
      const refused = bypassRefusal(agent);
      if (refused !== undefined) return refused;
    }
    const stages = proxies.map((component) => this.#proxyStage(component));
    if (agent !== undefined) stages.push(this.#agentStage(agent));
    this.#stages = stages;
    const first = this.#introducing(this.#connect(stages, role), role);
    upstream.intake = afterInitialize(first, role);
    return first;
  }

  /** The handshake: only editions that the chain may speak, and a mark for a conductor where something in here decides what is allowed. */
  #introducing(first: Port, role: Role): Port {
    return {
      ...first,
      request: (call, taker) => {
        if (call.method !== "initialize") return first.request(call, taker);
        const asked = this.#inItsEditions(call, role);
        if (asked instanceof RequestError) {
          taker({ error: wireParts(asked) });
          return () => undefined;
        }
        return first.request(asked, (answer, text) => {
          const { result } = answer;
          const wrong = answer.error === undefined ? this.#otherEdition(result) : undefined;
          if (wrong !== undefined) return taker({ error: wireParts(wrong) });
          const isMarked = role === "component" && this.#stages.some(({ isPolicy }) => isPolicy);
          if (!isMarked || !isObject(result)) return taker(answer, text);
          const { _meta: meta } = result;
          taker({ result: { ...result, _meta: { ...(isObject(meta) && meta), [policyKey]: true } } });
        });
      },
    };
  }

  /** Asks for an edition that the chain may speak, as an agent of these editions chooses it. */
  #inItsEditions(call: Call, role: Role): Call | RequestError {
    const { editions } = this.#options;
    if (editions === undefined) return call;
    const { params } = call;
    try {
      const protocolVersion = chooseVersion(params, versionsOf(editions));
      const asked = isObject(params) ? params : {};
      if (protocolVersion === asked["protocolVersion"]) return call;
      // the version is the conductor's to choose
      if (role === "component") throw unsupported(asked["protocolVersion"], editions);
      return new Call("initialize", { ...asked, protocolVersion });
    } catch (error) {
      if (error instanceof RequestError) return error;
      throw error;
    }
  }

  /** The agent has answered with an edition that the chain may not speak. */
  #otherEdition(result: unknown): RequestError | undefined {
    const { editions } = this.#options;
    const version = answeredVersion(result);
    if (editions === undefined || versionsOf(editions).some((each) => each === version)) return undefined;
    return unsupported(version, editions);
  }

  /** Connects each stage with its neighbours. Returns the port of the first one. */
  #connect(stages: readonly Stage[], role: Role): Port {
    const { watch, firstHop = { from: "the client", place: 0 } } = this.#options;
    const upstream = this.#upstream;
    const behind = role === "component" ? upstream.successor.port : nobodyBehind;
    const names = [firstHop.from, ...stages.map(({ name }) => name), "what is behind"];
    const hop = (port: Port, at: number, from: Side): Port => {
      if (watch === undefined) return port;
      const name = `${names[at]} > ${names[at + 1]}`;
      const place = firstHop.place + at;
      const note = (by: Side, message: object): void => watch({ hop: name, place, from: by, message });
      return watched(port, from, note, ids[at] ?? { next: 1 });
    };
    const ids = names.map(() => ({ next: 1 }));
    for (const [i, stage] of stages.entries()) {
      const before = stages[i - 1]?.fromAgent ?? upstream.port;
      const after = stages[i + 1]?.fromClient ?? behind;
      const isLast = i === stages.length - 1;
      stage.connect({
        client: hop(before, i, "agent"),
        agent: isLast && role === "alone" ? after : hop(after, i + 1, "client"),
      });
    }
    const [first = { fromClient: upstream.successor.port }] = stages;
    const { fromAgent = upstream.port } = stages.at(-1) ?? {};
    if (role === "component") upstream.successor.intake = hop(fromAgent, stages.length, "agent");
    return hop(first.fromClient, 0, "client");
  }

  #proxyStage(component: ChainComponent): Stage {
    const { log } = this.#options;
    const { start } = component;
    if (isProxy(start)) return new ProxyStage(component, start.definition, this, log);
    return new ComponentStage(component, starterOf(component), this, log);
  }

  #agentStage(component: ChainStageComponent): Stage {
    const { editions = [], log } = this.#options;
    const start = starterOf(component);
    return new AgentStage(component, () => clientDialects(start(), editions, { log }).transport, this, log);
  }
}

function unsupported(version: unknown, editions: Editions): RequestError {
  const supported = versionsOf(editions);
  const message = `protocol version ${String(version)} is not among the editions of this chain`;
  return new RequestError("unsupported_version", message, { data: { requested: version, supported } });
}

/** The proxies, and the agent behind them. */
function withAgent(
  components: readonly ChainStageComponent[],
): [readonly ChainStageComponent[], ChainStageComponent | undefined] {
  const last = components.at(-1);
  if (last === undefined || !isProxy(last.start)) return [components.slice(0, -1), last];
  const { agent } = last.start.definition;
  return [components, agent && { name: "the agent", start: agent }];
}

function starterOf({ name, start }: ChainComponent): () => Transport {
  if (typeof start === "function") {
    return () => {
      const made = start();
      return isPromiseLike(made) ? lateTransport(() => Promise.resolve(made)) : made;
    };
  }
  if (isProxy(start))
    throw new TypeError(`conductor: ${name} is a proxy: expected an agent at the end of the chain`);
  return () => {
    const [near, far] = memoryPair();
    start.connect(far);
    return near;
  };
}

/** A client initialises once more in its own way; nobody becomes something else on the way. */
function afterInitialize(first: Port, role: Role): Port {
  return {
    notify: (call) => first.notify(call),
    unread: () => first.unread(),
    request: (call, taker) => {
      const generation = generationOfInitialize(call.method);
      if (generation === undefined && (role === "alone" || call.method !== "initialize"))
        return first.request(call, taker);
      if (generation !== undefined && role === "component")
        return first.request(call.named("initialize"), taker);
      return refusing({
        code: errorCodes.invalid_request,
        message: `${call.method} is not allowed on this connection, which began ${role === "alone" ? "with initialize" : "as a proxy"}`,
        data: { reason: "wrong_role" },
      }).request(call, taker);
    },
  };
}

const mustComeFirst = {
  code: errorCodes.invalid_request,
  message: "initialize must come first, in a message of its own",
  data: { reason: "not_initialized" },
};

const noProxy = refusing({
  code: errorCodes.method_not_found,
  message: "this connection is not to a proxy: only a conductor and its proxies use proxy/successor",
});

const nobodyBehind = refusing({
  code: errorCodes.method_not_found,
  message: "this component has no successor: nothing is behind it",
});
