// Puts the two editions of a relay together and keeps them so until one side goes.

import type { ProtocolVersion } from "../../edition/negotiate.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import { idToJson } from "../../jsonrpc/message-id.ts";
import type { ElicitationAnswer, ElicitationAsk, PermissionAnswer, PermissionAsk } from "../../model/ask.ts";
import { errorCodes } from "../../model/error-codes.ts";
import { AgentWire } from "../agent/agent-wire.ts";
import { connectWith } from "../client/client.ts";
import type { AskContext, ClientDefinition } from "../client/client-definition.ts";
import type { ConnectedAgent } from "../client/connected-agent.ts";
import { askWithDiffTexts } from "./diff-texts.ts";
import { Errands } from "./errands.ts";
import { type InitializeParams, infoOf, passedOn } from "./introduction.ts";
import { withLost } from "./losses.ts";
import type { RelayOptions } from "./relay-options.ts";
import type { RelayedSession, RelayedSessionLink } from "./relayed-session.ts";
import type { Splice } from "./splice.ts";
import { Translation } from "./translation.ts";

export interface Sides {
  readonly client: Splice;
  readonly agent: Splice;
}

export interface Handshake {
  readonly client: ProtocolVersion;
  readonly agent: ProtocolVersion;
  /** What the client asked. */
  readonly asked: InitializeParams;
  /** What the agent answered. */
  readonly result: unknown;
}

export class Meeting implements RelayedSessionLink {
  readonly #sides: Sides;
  readonly #handshake: Handshake;
  readonly #options: RelayOptions;
  #front: AgentWire | undefined;
  #host: Translation | undefined;
  /** What the agent says before there is anybody to hear it. */
  #early: ((front: AgentWire) => void)[] = [];
  #slow = 0;
  readonly errands = new Errands();
  readonly #over = Promise.withResolvers<string>();
  #agent: ConnectedAgent | undefined;
  #closing: Promise<void> | undefined;
  /** Resolves with the reason when both sides are closed, once it has begun. */
  readonly over: Promise<string> = this.#over.promise;

  constructor(sides: Sides, handshake: Handshake, options: RelayOptions) {
    this.#sides = sides;
    this.#handshake = handshake;
    this.#options = options;
  }

  /** Rejects when the agent's answer cannot be understood; then nobody has answered the client. */
  async begin(): Promise<void> {
    const { client, result } = this.#handshake;
    const transport = this.errands.watching(this.#sides.agent.transport());
    const agent = await connectWith(transport, this.#definition(), async () => result);
    const { unstable = "*", limits, log } = this.#options;
    const host = new Translation(this, agent, this.#options);
    const front = new AgentWire(
      this.#sides.client.transport(),
      { versions: [client], unstable, forwards: true, ...(limits && { limits }), ...(log && { log }) },
      host,
    );
    this.#agent = agent;
    this.#host = host;
    this.#front = front;
    for (const work of this.#early.splice(0)) work(front);
    const ended = ({ message }: ConnectionError): void => {
      void this.close().then(() => this.#over.resolve(message));
    };
    void agent.closed.then(ended);
    void front.closed.then(ended);
    // it was too late to meet: whoever closes a meeting that has not begun cannot reach the two
    if (this.#closing !== undefined) await Promise.all([front.close(), agent.close()]);
  }

  /** Lets what runs answer, and closes both sides. Never rejects. */
  close(reason?: string): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason: string | undefined): Promise<void> {
    await Promise.allSettled([
      this.#front?.close(reason ?? "the agent has gone"),
      this.#agent?.close(reason ?? "the client has gone"),
    ]);
    await this.#host?.close().catch((error: unknown) => {
      this.#options.log?.("error", "closing the tools of sessions failed", { error });
    });
  }

  // ---- RelayedSessionLink

  get front(): AgentWire {
    if (this.#front === undefined) throw new Error("the client has not been met yet");
    return this.#front;
  }

  get losses(): "lossy" | "strict" {
    return this.#options.losses ?? "lossy";
  }

  readText(path: string, roots: readonly string[]): string | undefined {
    return this.#options.readText?.(path, roots);
  }

  /** The client is slow: the agent is not read until it has caught up. */
  slow(room: Promise<void>): void {
    if (this.#slow++ === 0) this.#sides.agent.pause();
    const done = (): void => {
      if (--this.#slow === 0) this.#sides.agent.resume();
    };
    room.then(done, done);
  }

  // ----

  #definition(): ClientDefinition {
    const { agent, client, asked } = this.#handshake;
    const { unstable = "*", limits, log } = this.#options;
    const features = passedOn(asked, client);
    const modes = [
      ...(features.elicitationForm ? (["form"] as const) : []),
      ...(features.elicitationUrl ? (["url"] as const) : []),
    ];
    return {
      ...infoOf(asked),
      versions: [agent],
      unstable,
      ...(limits && { limits }),
      ...(log && { log }),
      permission: (ask, context) => this.#permission(ask, context),
      ...(modes.length === 0
        ? {}
        : {
            elicitationModes: modes,
            elicit: (ask, context) => this.#elicit(ask, context),
            elicitationCompleted: (elicitationId) =>
              this.#withFront((front) => front.notify("elicitation/complete", { elicitationId })),
          }),
      // the client runs it itself, from what the introduction tells it
      ...(features.terminalAuth ? { terminalLogin: () => Promise.resolve() } : {}),
      otherRequest: (method, params, { signal }) =>
        new Promise((resolve, reject) => {
          this.#withFront((front) =>
            front.requestExtension(method, params, { signal }).then(resolve, reject),
          );
        }),
      otherNotification: (method, params) =>
        this.#withFront((front) => {
          const room = front.notifyExtension(method, params);
          if (room !== undefined) this.slow(room);
        }),
    };
  }

  #withFront(work: (front: AgentWire) => void): void {
    if (this.#front === undefined) this.#early.push(work);
    else work(this.#front);
  }

  async #permission(
    ask: PermissionAsk,
    { session, signal }: AskContext,
  ): Promise<PermissionAnswer | undefined> {
    const relayed = this.#host?.find(session?.sessionId);
    const front = this.#front;
    if (relayed === undefined || front === undefined || session === undefined) return undefined;
    return relayed.asking(this.#handshake.agent === 1, async () => {
      const { shown, method, params } = this.#asked(ask, relayed, front);
      let answer: PermissionAnswer = { outcome: "cancelled" };
      try {
        answer = front.edition.permissionAnswer((await front.request(method, params, { signal })) as object);
      } finally {
        const over = front.edition.permissionOver(shown, answer);
        if (over !== undefined) void front.sendUpdate(session.sessionId, over);
      }
      return answer;
    });
  }

  /** The question as the client is asked it. Strict: one that cannot be said whole is refused. */
  #asked(ask: PermissionAsk, { live, readText, losses }: RelayedSession, front: AgentWire) {
    const lost: string[] = [];
    const note = (what: string): void => void lost.push(what);
    const shown = front.edition.showsDiffTexts ? askWithDiffTexts(ask, readText, note) : ask;
    const { method, params } = front.edition.permission(live.sessionId, shown, note);
    if (losses.note(live.sessionId, lost)) return { shown, method, params: withLost(params as object, lost) }; // of a request
    const message = `a client of version ${front.version} cannot be asked this; lost would be: ${lost.join("; ")}`;
    throw new RequestError(errorCodes.invalidParams, message, { reason: "unsupported" });
  }

  async #elicit(ask: ElicitationAsk, context: AskContext): Promise<ElicitationAnswer> {
    const { session, signal, requestId } = context;
    const relayed = this.#host?.find(session?.sessionId);
    const front = this.#front;
    const asked = this.errands.find(requestId);
    if (front !== undefined && session === undefined && asked !== undefined) {
      const params = { requestId: idToJson(asked), ...ask };
      return front.edition.elicitationAnswer(
        (await front.request("elicitation/create", params, { signal })) as object,
      );
    }
    if (relayed === undefined || front === undefined || session === undefined) {
      const message = "a question that belongs to no session and no request of the client is not asked";
      this.#options.log?.("error", message, { message: ask.message.slice(0, 200) });
      return { action: "cancel" };
    }
    return relayed.asking(this.#handshake.agent === 1, async () => {
      const { method, params } = front.edition.elicitation(session.sessionId, ask);
      return front.edition.elicitationAnswer((await front.request(method, params, { signal })) as object);
    });
  }
}
