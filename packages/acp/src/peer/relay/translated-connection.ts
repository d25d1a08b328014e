// Connects a client of one version with an agent of the other, until one of the two connections ends.

import { optional } from "../../base/objects.ts";
import { editionOf, type ProtocolVersion } from "../../edition/negotiate.ts";
import { elicitationAnswerFromWire, permissionAnswerFromWire } from "../../edition/wire-fields.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import { idToJson } from "../../jsonrpc/message-id.ts";
import type {
  ElicitationRequest,
  ElicitationResponse,
  PermissionOutcome,
  PermissionRequest,
} from "../../model/ask.ts";
import { AgentWire } from "../agent/agent-wire.ts";
import { withLost } from "../base/lost-note.ts";
import { connectWith } from "../client/client.ts";
import type { ClientDefinition, RelayHooks } from "../client/client-definition.ts";
import type { ConnectedAgent } from "../client/connected-agent.ts";
import type { RequestContext } from "../client/session/client-session.ts";
import { askWithDiffTexts } from "./diff-texts.ts";
import { type InitializeParams, infoOf, passedOn } from "./introduction.ts";
import type { ReadInTurns } from "./read-in-turns.ts";
import { RelayHost } from "./relay-host.ts";
import type { RelayOptions } from "./relay-options.ts";
import type { RelayContext, RelayedSession } from "./relayed-session.ts";
import { RequestOrigins } from "./request-origins.ts";

export interface Sides {
  readonly client: ReadInTurns;
  readonly agent: ReadInTurns;
}

export interface Handshake {
  readonly client: ProtocolVersion;
  readonly agent: ProtocolVersion;
  /** The client's request. */
  readonly asked: InitializeParams;
  /** The agent's answer. */
  readonly result: unknown;
}

export class TranslatedConnection implements RelayContext {
  readonly #sides: Sides;
  readonly #handshake: Handshake;
  readonly options: RelayOptions;
  /** Version 1 has no states. */
  readonly agentHasStates: boolean;
  #wire: AgentWire | undefined;
  #host: RelayHost | undefined;
  /** Messages of the agent that come before the client's connection is there. */
  #early: ((wire: AgentWire) => void)[] = [];
  /** How many messages wait for the client to read. */
  #slow = 0;
  readonly #origins = new RequestOrigins();
  readonly #over = Promise.withResolvers<string>();
  #agent: ConnectedAgent | undefined;
  #closing: Promise<void> | undefined;
  /** Resolves with the reason when both sides are closed, once it has begun. */
  readonly over: Promise<string> = this.#over.promise;

  constructor(sides: Sides, handshake: Handshake, options: RelayOptions) {
    this.#sides = sides;
    this.#handshake = handshake;
    this.options = options;
    this.agentHasStates = handshake.agent !== 1;
  }

  /** Rejects when the agent's answer cannot be decoded; the client has no answer then. */
  async begin(): Promise<void> {
    const { client, result } = this.#handshake;
    const transport = this.#sides.agent.transport();
    const agent = await connectWith(transport, this.#definition(), async () => result, this.#hooks());
    const { unstable = "*", limits, log } = this.options;
    const host = new RelayHost(this, agent, this.#origins);
    const wire = new AgentWire(
      this.#sides.client.transport(),
      { versions: [client], unstable, forwards: true, ...optional({ limits, log }) },
      host,
    );
    this.#agent = agent;
    this.#host = host;
    this.#wire = wire;
    for (const work of this.#early.splice(0)) work(wire);
    const ended = ({ message }: ConnectionError): void => {
      void this.close().then(() => this.#over.resolve(message));
    };
    void agent.closed.then(ended);
    void wire.closed.then(ended);
    // closed before it began, when neither could be reached
    if (this.#closing !== undefined) await Promise.all([wire.close(), agent.close()]);
  }

  /** Lets what runs answer, and closes both sides. Never rejects. */
  close(reason?: string): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason: string | undefined): Promise<void> {
    await Promise.allSettled([
      this.#wire?.close(reason ?? "the agent has disconnected"),
      this.#agent?.close(reason ?? "the client has disconnected"),
    ]);
    await this.#host?.close().catch((error: unknown) => {
      this.options.log?.("error", "closing the tools of sessions failed", { error });
    });
  }

  // ---- RelayContext

  get wire(): AgentWire {
    if (this.#wire === undefined) throw new Error("the client is not connected yet");
    return this.#wire;
  }

  waitForClient(room: Promise<void>): void {
    if (this.#slow++ === 0) this.#sides.agent.pause();
    const done = (): void => {
      if (--this.#slow === 0) this.#sides.agent.resume();
    };
    room.then(done, done);
  }

  // ----

  #definition(): ClientDefinition {
    const { agent, client, asked } = this.#handshake;
    const { unstable = "*", limits, log } = this.options;
    const features = passedOn(asked, client);
    const elicits = features.elicitationForm || features.elicitationUrl;
    const { _meta: _, ...info } = infoOf(asked);
    return {
      ...info,
      editions: [editionOf(agent)],
      unstable,
      ...optional({ log, connection: limits && { limits } }),
      requestPermission: (ask, context) => this.#permission(ask, context),
      ...(!elicits
        ? {}
        : {
            elicit: (ask, context) => this.#elicit(ask, context),
            elicitationCompleted: (elicitationId, notice) =>
              this.#withWire((wire) => wire.notify("elicitation/complete", { elicitationId, ...notice })),
          }),
      auth: {
        // the client runs the login itself
        terminal: features.terminalAuth,
      },
    };
  }

  #hooks(): RelayHooks {
    const { elicitationForm, elicitationUrl } = passedOn(this.#handshake.asked, this.#handshake.client);
    return {
      elicitationModes: [
        ...(elicitationForm ? (["form"] as const) : []),
        ...(elicitationUrl ? (["url"] as const) : []),
      ],
      authStatusUpdated: (status) => this.#withWire((wire) => wire.notify("auth/status_update", status)),
      updateDropped: (sessionId, what) => {
        this.#host?.find(sessionId)?.losses.note(sessionId, [what]);
      },
      otherRequest: (method, params, { signal }) =>
        new Promise((resolve, reject) => {
          this.#withWire((wire) => wire.passRequest(method, params, { signal }).then(resolve, reject));
        }),
      otherNotification: (method, params) =>
        this.#withWire((wire) => {
          const room = wire.passNotification(method, params);
          if (room !== undefined) this.waitForClient(room);
        }),
    };
  }

  #withWire(work: (wire: AgentWire) => void): void {
    if (this.#wire === undefined) this.#early.push(work);
    else work(this.#wire);
  }

  async #permission(
    ask: PermissionRequest,
    { session, signal }: RequestContext,
  ): Promise<PermissionOutcome | undefined> {
    const relayed = this.#host?.find(session?.sessionId);
    const wire = this.#wire;
    if (relayed === undefined || wire === undefined || session === undefined) return undefined;
    return relayed.asking(async () => {
      const { shown, method, params } = this.#asked(ask, relayed, wire);
      let answer: PermissionOutcome = { outcome: "cancelled" };
      try {
        answer = permissionAnswerFromWire((await wire.request(method, params, { signal })) as object);
      } finally {
        const over = wire.edition.permissionOver(shown, answer);
        if (over !== undefined) void wire.sendUpdate(session.sessionId, over);
      }
      return answer;
    });
  }

  /** The question in the client's version. In strict mode a question that loses something is refused. */
  #asked(ask: PermissionRequest, { live, readText, losses }: RelayedSession, wire: AgentWire) {
    const lost: string[] = [];
    const note = (what: string): void => void lost.push(what);
    const shown = wire.edition.showsDiffTexts ? askWithDiffTexts(ask, readText, note) : ask;
    const { method, params } = wire.edition.permission(live.sessionId, shown, note);
    if (losses.note(live.sessionId, lost)) return { shown, method, params: withLost(params as object, lost) }; // of a request
    const message = `a client of version ${wire.version} cannot be asked this; lost would be: ${lost.join("; ")}`;
    throw new RequestError("invalid_params", message, { data: { reason: "unsupported" } });
  }

  async #elicit(ask: ElicitationRequest, context: RequestContext): Promise<ElicitationResponse> {
    const { session, signal, requestId } = context;
    const relayed = this.#host?.find(session?.sessionId);
    const wire = this.#wire;
    const asked = this.#origins.find(requestId);
    if (wire !== undefined && session === undefined && asked !== undefined) {
      return elicit(wire, { requestId: idToJson(asked), ...ask }, signal);
    }
    if (relayed === undefined || wire === undefined || session === undefined) {
      const message = "a question that belongs to no session and no request of the client is not asked";
      this.options.log?.("error", message, { message: ask.message.slice(0, 200) });
      return { action: "cancel" };
    }
    return relayed.asking(() => elicit(wire, { sessionId: session.sessionId, ...ask }, signal));
  }
}

async function elicit(wire: AgentWire, params: object, signal: AbortSignal): Promise<ElicitationResponse> {
  return elicitationAnswerFromWire((await wire.request("elicitation/create", params, { signal })) as object);
}
