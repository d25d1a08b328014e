// The machine of a connection in which our side is the agent, and the peer a client of the dialect.

import type { DialectMachine, DialectOptions } from "@parley/acp/transport";
import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import { type Call, Exchange, type Fields, metaField } from "../exchange/exchange.ts";
import { credentialsKey, isObject, storedCwdKey } from "../exchange/library.ts";
import { methods } from "../wire/pharo/methods.gen.ts";
import type {
  AuthenticateRequest,
  ClientCapabilities,
  InitializeRequest,
  LoadSessionRequest,
  NewSessionRequest,
  PromptRequest,
  SetConfigOptionRequest,
} from "../wire/pharo/types.gen.ts";
import { handleServices } from "./agent-services.ts";
import { blockToV1 } from "./content.ts";
import { errorFromPharo, errorToPharo } from "./errors.ts";
import { agentToPharo, clientToV1 } from "./introduction.ts";
import { currentMode, hasOtherOptions, jsonOptions, settingToV1 } from "./options.ts";
import { serversToV1 } from "./servers.ts";
import { updateToPharo } from "./updates.ts";

const unlistedOptions = "the options of a session: the dialect sets them and does not list them";

/** Titles of tool calls are kept for questions about them, at most this many. */
const maxTitles = 1000;

export function agentSide(options: DialectOptions): DialectMachine {
  const exchange = new Exchange(
    {
      methods,
      role: "agent",
      errorToUs: errorFromPharo,
      errorToPeer: errorToPharo,
      // the public Pharo client sends the last two so; the answer of each is null, so nothing is lost
      withoutId: new Set(["authenticate", "session/load", "session/set_mode", "session/set_config_option"]),
    },
    options,
  );
  new PharoClient(exchange).handle();
  return exchange;
}

/** What is known about the client. */
class PharoClient {
  readonly #exchange: Exchange;
  #can: ClientCapabilities = {};
  /** The mode that the client expects a session to begin with: the first of those that it was told. */
  #firstMode: unknown;
  /** The options that hold JSON of any type, by session. */
  readonly #jsonOptions = new Map<string, ReadonlySet<string>>();
  /** Modes that the last update of options has told, by session. */
  readonly #modesOfOptions = new Map<string, string>();
  readonly #titles = new Map<string, string>();

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  handle(): void {
    // the params of the peer have the shapes of the method table, which has checked them
    this.#exchange.handle("peer", {
      initialize: (params, call) => this.#initialize(params as object as InitializeRequest, call),
      authenticate: (params, call) => authenticate(params as object as AuthenticateRequest, call),
      "session/new": (params, call) => this.#newSession(params as object as NewSessionRequest, call),
      "session/load": (params, call) => this.#loadSession(params as object as LoadSessionRequest, call),
      "session/set_mode": (params, call) => call.forward(params, () => null),
      "session/set_config_option": (params, call) =>
        this.#setOption(params as object as SetConfigOptionRequest, call),
      "session/prompt": (params, call) => this.#prompt(params as object as PromptRequest, call),
      "session/cancel": (params, call) => call.forward(params),
    });
    this.#exchange.handle("us", { "session/update": (params, call) => this.#update(params, call) });
    handleServices(
      this.#exchange,
      () => this.#can,
      (sessionId, toolCallId) => this.#titles.get(JSON.stringify([sessionId, toolCallId])),
    );
  }

  readonly #lost = (what: string): void => this.#exchange.lost(what);

  #initialize(params: InitializeRequest, call: Call): void {
    this.#can = params.clientCapabilities ?? {};
    call.forward(clientToV1(params), (result) => {
      const answer = agentToPharo(result, this.#lost);
      const { sessionModes } = answer["agentCapabilities"] as { sessionModes?: readonly Fields[] }; // made above
      this.#firstMode = sessionModes?.[0]?.["modeId"];
      return answer;
    });
  }

  #newSession(params: NewSessionRequest, call: Call): void {
    const { cwd, mcpServers } = params;
    const request = { cwd, mcpServers: serversToV1(mcpServers), ...metaField(params) };
    call.forwardThen(request, (answer) => {
      if (answer.error !== undefined) {
        call.refuse(answer.error);
        return;
      }
      const { sessionId } = answer.result;
      call.answer({ sessionId, ...metaField(answer.result) });
      this.#opened(String(sessionId), answer.result);
    });
  }

  #loadSession(params: LoadSessionRequest, call: Call): void {
    const { sessionId, mcpServers } = params;
    const meta = withMetaKeys(params, { [storedCwdKey]: true });
    const request = { sessionId, cwd: "/", mcpServers: serversToV1(mcpServers), ...meta };
    call.forwardThen(request, (answer) => {
      if (answer.error !== undefined) {
        call.refuse(answer.error);
        return;
      }
      call.answer(null);
      if (withoutMeta(answer.result, [storedCwdKey])._meta !== undefined)
        this.#lost("the metadata of the answer to session/load");
      this.#opened(sessionId, answer.result);
    });
  }

  /** The answer cannot name the current mode; an update can. */
  #opened(sessionId: string, result: Fields): void {
    this.#remember(sessionId, result);
    if (hasOtherOptions(result)) this.#lost(unlistedOptions);
    const modeId = currentMode(result);
    if (modeId !== undefined && modeId !== this.#firstMode) this.#tellMode(sessionId, modeId);
  }

  #tellMode(sessionId: unknown, modeId: string): void {
    const update = { type: "current_mode_update", modeId };
    this.#exchange.notify("peer", "session/update", { sessionId, update });
  }

  #remember(sessionId: string, holder: Fields): void {
    const ids = jsonOptions(holder);
    if (ids !== undefined) this.#jsonOptions.set(sessionId, new Set(ids));
  }

  #setOption(params: SetConfigOptionRequest, call: Call): void {
    const { sessionId, option } = params;
    const takesJson = this.#jsonOptions.get(sessionId)?.has(option) ?? false;
    call.forward(settingToV1(params, takesJson), (result) => {
      this.#remember(sessionId, result);
      return null;
    });
  }

  #prompt(params: PromptRequest, call: Call): void {
    const { prompt, ...rest } = params;
    call.forward({ ...rest, prompt: prompt.map(blockToV1) }, (result) => {
      if (isObject(result["usage"])) this.#lost("the usage of a turn");
      return { stopReason: this.#stopReason(result["stopReason"]), ...metaField(result) };
    });
  }

  #stopReason(reason: unknown): unknown {
    if (["end_turn", "max_tokens", "refusal", "cancelled"].includes(String(reason))) return reason;
    this.#lost(`the stop reason ${String(reason)}: it is told as a limit`);
    return "max_tokens";
  }

  #update(params: Fields, call: Call): void {
    const { sessionId, update } = params;
    if (!isObject(update)) return;
    if (update["sessionUpdate"] === "config_option_update") {
      this.#updateOptions(String(sessionId), update);
      return;
    }
    if (update["sessionUpdate"] === "current_mode_update") {
      const before = this.#modesOfOptions.get(String(sessionId));
      this.#modesOfOptions.delete(String(sessionId));
      if (before === update["currentModeId"]) return;
    }
    this.#keepTitle(sessionId, update);
    const translated = updateToPharo(update, this.#lost);
    if (translated !== undefined) call.forward({ sessionId, update: translated, ...metaField(params) });
  }

  /** The dialect has modes and lists no options. Agents of version 1 may tell the mode both ways, or only as an option. */
  #updateOptions(sessionId: string, update: Fields): void {
    this.#remember(sessionId, update);
    if (hasOtherOptions(update)) this.#lost(unlistedOptions);
    const modeId = currentMode(update);
    if (modeId === undefined) return;
    this.#modesOfOptions.set(sessionId, modeId);
    this.#tellMode(sessionId, modeId);
  }

  #keepTitle(sessionId: unknown, { sessionUpdate, toolCallId, title, status }: Fields): void {
    if (sessionUpdate !== "tool_call" && sessionUpdate !== "tool_call_update") return;
    const key = JSON.stringify([sessionId, toolCallId]);
    if (status === "completed" || status === "failed") this.#titles.delete(key);
    else if (typeof title === "string") this.#titles.set(key, title);
    const [oldest] = this.#titles.keys();
    if (this.#titles.size > maxTitles && oldest !== undefined) this.#titles.delete(oldest);
  }
}

function authenticate(params: AuthenticateRequest, call: Call): void {
  const { methodId, credentials } = params;
  const meta = withMetaKeys(params, { [credentialsKey]: credentials });
  call.forward({ methodId, ...meta }, () => null);
}
