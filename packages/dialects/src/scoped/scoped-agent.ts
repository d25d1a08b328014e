// The machine for a connection in which our side is the agent: the client speaks the dialect.

import type { DialectMachine, DialectOptions } from "@parley/acp/transport";
import type * as v1 from "@parley/acp/v1";
import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import { Exchange, type Fields, type Handler, metaField } from "../exchange/exchange.ts";
import {
  capabilitiesKey,
  credentialsKey,
  detailsKey,
  errorCodes,
  expiresAtKey,
  isObject,
  modes,
  operationKey,
  optional,
  sessionOptionsKey,
} from "../exchange/library.ts";
import type { DialectError } from "../exchange/refusals.ts";
import { methods } from "../wire/scoped/methods.gen.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import * as validate from "../wire/scoped/validators.gen.ts";
import { handleAgentFiles } from "./agent-files.ts";
import { ScopedAgentSession } from "./agent-session.ts";
import { AgentSetup } from "./agent-setup.ts";
import { AgentTerminals } from "./agent-terminals.ts";
import { forward, refusing } from "./calls.ts";
import {
  agentToScoped,
  areDocumented,
  clientFromScoped,
  implementation,
  LoginNames,
  requireOffered,
} from "./capabilities.ts";
import { attachmentFromScoped, blockFromScoped } from "./content.ts";
import { countOf, detailText, dialectDetails, metaValue, metaWithDetails } from "./details.ts";
import { errorFromScoped, errorToScoped } from "./errors.ts";
import { ModeNames } from "./modes.ts";
import { type Option, settingOf, withoutModes } from "./options.ts";
import { answerFromScoped, questionToScoped } from "./permission.ts";

export function scopedAgentSide(options: DialectOptions): DialectMachine {
  return new AgentMachine(options).exchange;
}

class AgentMachine {
  readonly exchange: Exchange;
  readonly #now: () => number;
  #client: scoped.ClientCapabilities = {};
  #agent: v1.AgentCapabilities = {};
  #logins = new LoginNames([]);
  readonly #sessions = new Map<string, ScopedAgentSession>();
  readonly #terminals: AgentTerminals;

  constructor(options: DialectOptions) {
    this.exchange = new Exchange(
      {
        methods,
        role: "agent",
        withoutId: new Set(["terminal/output"]),
        errorToUs: errorFromScoped,
        errorToPeer: errorToScoped,
      },
      options,
    );
    this.#now = () => options.clock.now();
    this.#terminals = new AgentTerminals(this.exchange, () => this.#client.terminal);
    handleAgentFiles(this.exchange, () => this.#client.fs);
    const setup = new AgentSetup(this.exchange, {
      now: this.#now,
      agent: () => this.#agent,
      session: (sessionId) => this.#session(sessionId),
      renew: (sessionId) => {
        const session = this.#open(sessionId);
        this.#sessions.set(sessionId, session);
        return session;
      },
      forget: (sessionId) => void this.#sessions.delete(sessionId),
    });
    this.exchange.handle("peer", {
      initialize: refusing(this.#initialize),
      authenticate: refusing(this.#authenticate),
      "session/new": refusing(setup.create),
      "session/load": refusing(setup.load),
      "session/prompt": refusing(this.#prompt),
      "session/set_mode": refusing(this.#setMode),
      "session/set_config_option": refusing(this.#setOption),
      "session/cancel": refusing(this.#cancel),
    });
    this.exchange.handle("us", {
      "session/update": (params) => {
        const update = params as object as v1.SessionNotification; // our side's
        this.#session(update.sessionId).told(update);
      },
      "session/request_permission": refusing(this.#ask),
    });
  }

  /** One that our agent has told of is kept. A client may name any. */
  #session(sessionId: string): ScopedAgentSession {
    const session = this.#named(sessionId);
    this.#sessions.set(sessionId, session);
    return session;
  }

  #named(sessionId: string): ScopedAgentSession {
    return this.#sessions.get(sessionId) ?? this.#open(sessionId);
  }

  #open(sessionId: string): ScopedAgentSession {
    return new ScopedAgentSession(sessionId, {
      exchange: this.exchange,
      now: this.#now,
      lost: (what) => this.exchange.lost(what),
      showsDiffs: () => this.#client.ui?.diffViewer !== false,
      terminal: (terminalId) => this.#terminals.shown(terminalId),
      streams: () => this.#prompts()["streaming"] !== false,
    });
  }

  /** What an agent that came from the dialect said about its prompts. */
  #prompts(): Fields {
    const said = metaValue(this.#agent, capabilitiesKey);
    const prompts = isObject(said) ? said["promptCapabilities"] : undefined;
    return isObject(prompts) ? prompts : {};
  }

  readonly #initialize: Handler = (params, call) => {
    const { clientInfo, capabilities } = params as object as scoped.InitializeRequest; // checked by its row
    this.#client = capabilities;
    const request: v1.InitializeRequest = {
      protocolVersion: 1,
      clientInfo: implementation.fromScoped(clientInfo),
      clientCapabilities: clientFromScoped(capabilities),
      ...metaField(params),
    };
    forward(call, request, (result) => {
      const {
        agentCapabilities = {},
        agentInfo,
        authMethods = [],
      } = result as object as v1.InitializeResponse;
      this.#agent = agentCapabilities;
      this.#logins = new LoginNames(authMethods);
      const required = dialectDetails(result)?.["requiredClientCapabilities"];
      // anybody may have written it
      const isValid = validate.ClientCapabilities(required, modes.checks | modes.strict) === undefined;
      const requiredClientCapabilities = isValid ? (required as scoped.ClientCapabilities) : undefined;
      if (requiredClientCapabilities !== undefined) requireOffered(requiredClientCapabilities, capabilities);
      const said = metaValue(result, sessionOptionsKey);
      const known = Array.isArray(said) ? (said as Option[]) : undefined; // our side's
      return {
        protocolVersion: 1,
        agentInfo: implementation.toScoped(agentInfo),
        capabilities: agentToScoped(agentCapabilities, namesOf(known)),
        ...optional({ requiredClientCapabilities }),
        ...metaWithDetails(withoutMeta(result, [sessionOptionsKey]), {
          authMethods: areDocumented(authMethods) ? undefined : authMethods,
        }),
      };
    });
  };

  /** A login that fails is a result here, also by a method that the agent does not have. */
  readonly #authenticate: Handler = (params, call) => {
    const { method, credentials } = params as object as scoped.AuthenticateRequest; // checked by its row
    const methodId = this.#logins.ours(method);
    const request = { methodId, ...withMetaKeys(params, { [credentialsKey]: credentials }) };
    call.forwardThen(request, (answer) => {
      if (answer.error !== undefined) {
        const { code, message, data } = answer.error;
        const meta = metaWithDetails({}, { code, data });
        const isUnknown = !this.#logins.has(methodId) && code === errorCodes.invalid_params;
        const error = isUnknown
          ? `there is no such method to log in with; there are: ${this.#logins}`
          : message;
        return call.answer({ success: false, error, ...meta });
      }
      const expiresAt = detailText(metaValue(answer.result, expiresAtKey));
      const meta = withoutMeta(answer.result, [expiresAtKey, detailsKey]);
      call.answer({ success: true, ...optional({ expiresAt }), ...meta });
    });
  };

  readonly #prompt: Handler = (params, call) => {
    const { sessionId, content, attachments } = params as object as scoped.PromptRequest; // checked by its row
    const session = this.#named(sessionId);
    const prompt = [
      ...session.takeSystemPrompt(),
      ...content.map(blockFromScoped),
      ...(attachments ?? []).map(attachmentFromScoped),
    ];
    session.updates.turnBegan();
    call.forwardThen({ sessionId, prompt, ...metaField(params) }, (answer) => {
      const { error, result } = { error: undefined, result: undefined, ...answer };
      session.ended(result?.["stopReason"] === "cancelled");
      const data = isObject(error?.data) ? error.data : {};
      if (result !== undefined) call.answer(promptResult(result as object as v1.PromptResponse));
      else if (data["stopReason"] === "error")
        call.answer({ stopReason: "error", ...metaWithDetails({}, { data }) });
      else if (error !== undefined) call.refuse(error);
    });
  };

  readonly #setMode: Handler = (params, call) => {
    const { sessionId, mode } = params as object as scoped.SetModeRequest; // checked by its row
    const session = this.#named(sessionId);
    const { updates } = session;
    const modeId = updates.names.ours(mode);
    const previousMode = updates.mode ?? "default";
    const before = updates.names.theirs(modeId);
    // agents report the change before they answer
    updates.names.setAs(mode);
    const meta = metaWithDetails(params, { mode: mode === modeId ? undefined : mode });
    call.forwardThen({ sessionId, modeId, ...meta }, (answer) => {
      if (answer.error !== undefined) {
        updates.names.setAs(before);
        return call.refuse(
          withNames(
            answer.error,
            "/modeId",
            wrongName("session/set_mode: params/mode", updates.names.declared, mode),
          ),
        );
      }
      call.answer({ previousMode, currentMode: mode, ...withoutMeta(answer.result, [detailsKey]) });
      session.say(updates.modeSet(mode));
    });
  };

  readonly #setOption: Handler = (params, call) => {
    const { sessionId, key, value } = params as object as scoped.SetConfigOptionRequest; // checked by its row
    const { updates } = this.#named(sessionId);
    const option = updates.options.find(({ id }) => id === key);
    if (typeof value === "boolean") updates.switched.add(key);
    else updates.switched.delete(key);
    const setting = settingOf(sessionId, key, value, option);
    const request = { ...setting, ...withMetaKeys(params, setting._meta ?? {}) };
    // agents report the change before they answer
    updates.setByClient.add(key);
    call.forwardThen(request, (answer) => {
      updates.setByClient.delete(key);
      if (answer.error !== undefined) {
        const keys = updates.options.map(({ id }) => id);
        const message = wrongName("session/set_config_option: params/key", keys, key);
        return call.refuse(withNames(answer.error, "/configId", message));
      }
      const { result } = answer;
      const { configOptions } = result as object as v1.SetSessionConfigOptionResponse; // our side's
      updates.options = withoutModes(configOptions);
      const now = configOptions.find(({ id }) => id === key);
      const previousValue = option === undefined ? undefined : updates.valueOf(option);
      const currentValue = now === undefined ? value : updates.valueOf(now);
      call.answer({
        key,
        currentValue,
        ...optional({ previousValue }),
        ...withoutMeta(result, [detailsKey]),
      });
    });
  };

  readonly #cancel: Handler = (params, call) => {
    const { sessionId, reason } = params as object as scoped.CancelNotification; // checked by its row
    this.#named(sessionId).updates.tools.isCancelling = true;
    call.forward({ sessionId, ...metaWithDetails(params, { reason }) });
  };

  readonly #ask: Handler = (params, call) => {
    const question = params as object as v1.RequestPermissionRequest; // our side's
    const { sessionId, toolCall, options } = question;
    if (this.#client.ui?.permissionDialogs === false) {
      const reason = "the client shows no permission dialogs, so nobody could be asked";
      this.exchange.lost(`a question: ${reason}`);
      this.#named(sessionId).updates.tools.refused(toolCall.toolCallId);
      const denied = answerFromScoped({ granted: false }, options);
      return call.answer({ ...denied, _meta: { [detailsKey]: { reason } } });
    }
    const session = this.#session(sessionId);
    const { tools } = session.updates;
    // an agent of the dialect tells itself that a call waits
    const isOwn = metaValue(params, operationKey) === undefined;
    const asked = questionToScoped(question, tools.known(toolCall.toolCallId));
    if (isOwn) session.say(session.updates.own(tools.asked(toolCall)));
    call.forwardThen(asked, (answer) => {
      const isGranted = answer.error === undefined && answer.result["granted"] === true;
      if (isOwn) session.say(session.updates.own(tools.answered(toolCall.toolCallId, isGranted)));
      if (answer.error !== undefined) return call.refuse(answer.error);
      // a turn that is cancelled has no refusals, only questions that nobody answers
      const offered = tools.isCancelling && !isGranted ? [] : options;
      call.answer(answerFromScoped(answer.result, offered));
    });
  };
}

function wrongName(where: string, names: readonly string[], got: string): string {
  return `${where} must be one of: ${names.join(", ") || "none"}, got ${JSON.stringify(got.slice(0, 40))}`;
}

/** A refusal of a name, with the names that the document has for what there is. */
function withNames(error: DialectError, path: string, message: string): DialectError {
  return isObject(error.data) && error.data["path"] === path ? { ...error, message } : error;
}

function namesOf(options: readonly Option[] | undefined): {
  modes: string[] | undefined;
  configOptions: string[] | undefined;
} {
  if (options === undefined) return { modes: undefined, configOptions: undefined };
  const mode = options.find(({ category, type }) => category === "mode" && type === "select");
  const choices = mode?.type === "select" ? mode.options : [];
  const modes = choices.flatMap((each) => ("group" in each ? each.options : [each]));
  const names = ModeNames.ofOurs(modes.map(({ value, ...rest }) => ({ id: value, ...rest })));
  return { modes: names.declared, configOptions: withoutModes(options).map(({ id }) => id) };
}

const stopReasons: Readonly<Record<string, scoped.StopReason>> = {
  end_turn: "end_turn",
  max_tokens: "max_tokens",
  cancelled: "cancelled",
  max_turn_requests: "max_tokens",
  refusal: "end_turn",
};

function promptResult(result: v1.PromptResponse): object {
  const { stopReason, usage } = result;
  const said = stopReasons[stopReason] ?? "end_turn";
  const tokens = usage && {
    inputTokens: countOf(usage.inputTokens) ?? 0,
    outputTokens: countOf(usage.outputTokens) ?? 0,
    ...withoutMeta(usage, [detailsKey]),
  };
  return {
    stopReason: said,
    ...optional({ usage: tokens ?? undefined }),
    ...metaWithDetails(result, { stopReason: said === stopReason ? undefined : stopReason }),
  };
}
