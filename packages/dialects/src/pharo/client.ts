// The machine of a connection in which our side is the client, and the peer an agent of the dialect.

import type { DialectMachine, DialectOptions } from "@parley/acp/transport";
import { withoutMeta } from "../exchange/details.ts";
import { type Call, Exchange, type Fields, metaField } from "../exchange/exchange.ts";
import { credentialsKey, isObject, storedCwdKey } from "../exchange/library.ts";
import { otherVersion } from "../exchange/refusals.ts";
import { methods } from "../wire/pharo/methods.gen.ts";
import type { InitializeResponse, SessionMode, SessionNotification } from "../wire/pharo/types.gen.ts";
import { handleAgentRequests } from "./client-services.ts";
import { blocksToPharo } from "./content.ts";
import { errorFromPharo, errorToPharo } from "./errors.ts";
import { agentToV1, clientToPharo, modeState } from "./introduction.ts";
import { meantValue, optionToV1, settingToPharo } from "./options.ts";
import { sessionToPharo } from "./servers.ts";
import { madeUpMessage, updateToV1 } from "./updates.ts";

export function clientSide(options: DialectOptions): DialectMachine {
  const exchange = new Exchange(
    {
      methods,
      role: "client",
      errorToUs: errorFromPharo,
      errorToPeer: errorToPharo,
      withoutId: new Set(["fs/write_text_file", "terminal/kill", "terminal/release"]),
    },
    options,
  );
  new PharoAgent(exchange).handle();
  handleAgentRequests(exchange);
  return exchange;
}

/** What is known about the agent. */
class PharoAgent {
  readonly #exchange: Exchange;
  #modes: readonly SessionMode[] = [];
  /** The modes of our sessions that have left their first one. An agent that names others makes nothing grow. */
  readonly #current = new Map<unknown, string | undefined>();
  /** The options that were set, by session. */
  readonly #options = new Map<unknown, Map<string, unknown>>();
  #messages = 0;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  readonly #lost = (what: string): void => this.#exchange.lost(what);

  handle(): void {
    this.#exchange.handle("us", {
      initialize: (params, call) => this.#initialize(params, call),
      authenticate: (params, call) => {
        const credentials = metaField(params)._meta?.[credentialsKey];
        const { methodId } = params;
        const meta = withoutMeta(params, [credentialsKey]);
        call.forward({ methodId, credentials: isObject(credentials) ? credentials : {}, ...meta });
      },
      "session/new": (params, call) => {
        const request = { cwd: params["cwd"], ...sessionToPharo(params, this.#lost) };
        call.forward(request, (result) => {
          this.#current.set(result["sessionId"], undefined);
          return { ...result, ...modeState(this.#modes, undefined) };
        });
      },
      "session/load": (params, call) => this.#load(params, call),
      "session/set_mode": (params, call) => {
        const { sessionId, modeId } = params;
        call.forward({ sessionId, modeId, ...metaField(params) }, (result) => {
          this.#current.set(sessionId, String(modeId));
          return result;
        });
      },
      "session/set_config_option": (params, call) => this.#setOption(params, call),
      "session/prompt": (params, call) => {
        const { sessionId, prompt } = params;
        call.forward({ sessionId, prompt: blocksToPharo(prompt, this.#lost), ...metaField(params) });
      },
      "session/cancel": (params, call) =>
        call.forward({ sessionId: params["sessionId"], ...metaField(params) }),
    });
    this.#exchange.handle("peer", {
      // checked by the method table
      "session/update": (params, call) => this.#update(params as object as SessionNotification, call),
    });
  }

  #initialize(params: Fields, call: Call): void {
    call.forwardThen(clientToPharo(params, this.#lost), (answer) => {
      if (answer.error !== undefined) return call.refuse(answer.error);
      const result = answer.result as object as InitializeResponse; // checked by the method table
      const wrong = otherVersion(result);
      if (wrong !== undefined) return call.refuse(wrong);
      this.#modes = result.agentCapabilities?.sessionModes ?? [];
      call.answer(agentToV1(result));
    });
  }

  #load(params: Fields, call: Call): void {
    const { sessionId } = params;
    if (metaField(params)._meta?.[storedCwdKey] !== true)
      this.#lost("the working directory of session/load: the agent uses the one that it has stored");
    if (!this.#current.has(sessionId)) this.#current.set(sessionId, undefined);
    const { _meta: _, ...request } = sessionToPharo(params, this.#lost);
    call.forward({ sessionId, ...request, ...withoutMeta(params, [storedCwdKey]) }, (result) => ({
      ...result,
      ...modeState(this.#modes, this.#current.get(sessionId)),
    }));
  }

  /** The dialect answers null, version 1 with all options: those that were set are known. */
  #setOption(params: Fields, call: Call): void {
    const { sessionId, configId } = params;
    call.forward(settingToPharo(params), () => {
      const options = this.#options.get(sessionId) ?? new Map<string, unknown>();
      this.#options.set(sessionId, options.set(String(configId), meantValue(params)));
      return { configOptions: Array.from(options, ([id, value]) => optionToV1(id, value)) };
    });
  }

  #update(params: SessionNotification, call: Call): void {
    const { sessionId, update, ...rest } = params;
    if (update.type === "current_mode_update" && this.#current.has(sessionId))
      this.#current.set(sessionId, update.modeId);
    for (const each of updateToV1(update, () => `${madeUpMessage}${++this.#messages}`))
      call.forward({ sessionId, update: each, ...rest });
  }
}
