// The machine for a connection in which our side is the client: the agent speaks the dialect.

import type { DialectMachine, DialectOptions } from "@parley/acp/transport";
import type * as v1 from "@parley/acp/v1";
import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import { Exchange, type Fields, type Handler, metaField } from "../exchange/exchange.ts";
import {
  credentialsKey,
  detailsKey,
  expiresAtKey,
  isAbsolutePath,
  isObject,
  normalPath,
  optional,
  RequestError,
  sessionOptionsKey,
  storedCwdKey,
  valueKey,
} from "../exchange/library.ts";
import { otherVersion, refusal } from "../exchange/refusals.ts";
import { methods } from "../wire/scoped/methods.gen.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import { forward, refusing } from "./calls.ts";
import {
  agentFromScoped,
  clientToScoped,
  documentedLogins,
  implementation,
  requireOffered,
} from "./capabilities.ts";
import { ClientFiles } from "./client-files.ts";
import { ClientTerminals, type ClientTurn } from "./client-terminals.ts";
import { attachmentOf, blockToScoped } from "./content.ts";
import { detailText, dialectDetails, metaValue, metaWithDetails } from "./details.ts";
import { errorFromScoped, errorToScoped } from "./errors.ts";
import { serversFor } from "./mcp.ts";
import { ModeNames } from "./modes.ts";
import { optionOf, valueIn } from "./options.ts";
import { answerToScoped, madeUpId, questionFromScoped } from "./permission.ts";
import { isEndOfMessage, UpdateDecoder } from "./update-decoder.ts";

export function scopedClientSide(options: DialectOptions): DialectMachine {
  return new ClientMachine(options).exchange;
}

/** An agent may name any session in its updates: it must not fill our memory. */
const mostSessions = 10_000;

interface ClientSession {
  readonly updates: UpdateDecoder;
  cwd: string;
  /** Prompts that are not answered yet. */
  running: number;
}

class ClientMachine {
  readonly exchange: Exchange;
  readonly #now: () => number;
  #offered: scoped.ClientCapabilities = {};
  #agent: scoped.AgentCapabilities = {};
  readonly #sessions = new Map<string, ClientSession>();
  readonly #terminals: ClientTerminals;
  #questions = 0;

  constructor(options: DialectOptions) {
    this.exchange = new Exchange(
      {
        methods,
        role: "client",
        withoutId: new Set(),
        errorToUs: errorFromScoped,
        errorToPeer: errorToScoped,
      },
      options,
    );
    this.#now = () => options.clock.now();
    const turn = (): ClientTurn => this.#turn();
    this.#terminals = new ClientTerminals(this.exchange, () => this.#offered.terminal, turn);
    new ClientFiles(this.exchange, () => this.#offered.fs, turn);
    this.exchange.handle("us", {
      initialize: this.#initialize,
      authenticate: this.#authenticate,
      "session/new": this.#create,
      "session/load": this.#load,
      "session/prompt": this.#prompt,
      "session/set_mode": this.#setMode,
      "session/set_config_option": this.#setOption,
      "session/cancel": this.#cancel,
    });
    this.exchange.handle("peer", {
      "session/update": (params) => {
        const update = params as object as scoped.SessionNotification; // checked by its row
        const { updates } = this.#session(update.sessionId);
        // it only says that nothing more of a message comes
        if (isEndOfMessage(update)) return;
        this.exchange.notify("us", "session/update", updates.decode(update));
      },
      "session/request_permission": refusing(this.#ask),
    });
  }

  #session(sessionId: string, cwd?: string): ClientSession {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) {
      known.cwd = cwd ?? known.cwd;
      return known;
    }
    const { modes, configOptions } = this.#agent.sessionCapabilities ?? {};
    const options = (configOptions ?? []).map((key) => optionOf(key, null));
    const updates = new UpdateDecoder(ModeNames.ofTheirs(modes ?? []), options, {
      now: this.#now,
      isShown: (terminalId) => this.#terminals.isShown(terminalId),
    });
    const session = { updates, cwd: cwd ?? "/", running: 0 };
    if (this.#sessions.size < mostSessions) this.#sessions.set(sessionId, session);
    return session;
  }

  /** The files and terminals of the dialect name no session: they belong to the one turn that runs. */
  #turn(): ClientTurn {
    const running = [...this.#sessions].filter(([, session]) => session.running > 0);
    const [only] = running;
    if (only === undefined || running.length > 1) {
      const which = only === undefined ? "no turn is running" : `${running.length} turns are running`;
      const message = `the request names no session, so it belongs to the running turn, but ${which}`;
      throw new RequestError("conflict", message, { data: { reason: "conflict", turns: running.length } });
    }
    const [sessionId, { cwd }] = only;
    return { sessionId, resolve: (path) => (isAbsolutePath(path) ? path : normalPath(`${cwd}/${path}`)) };
  }

  readonly #initialize: Handler = (params, call) => {
    const { clientInfo, clientCapabilities = {} } = params as object as v1.InitializeRequest; // our side's
    this.#offered = clientToScoped(clientCapabilities);
    const request = {
      protocolVersion: 1,
      clientInfo: implementation.toScoped(clientInfo),
      capabilities: this.#offered,
      ...metaField(params),
    };
    forward(call, request, (result) => {
      const answer = result as object as scoped.InitializeResponse; // checked by its row
      const { agentInfo, capabilities, requiredClientCapabilities } = answer;
      const wrong = otherVersion(answer);
      if (wrong !== undefined)
        throw new RequestError("unsupported_version", wrong.message, { data: wrong.data });
      requireOffered(requiredClientCapabilities, this.#offered);
      this.#agent = capabilities;
      const logins = dialectDetails(result)?.["authMethods"];
      const { modes, configOptions } = capabilities.sessionCapabilities ?? {};
      const state = modesOf(ModeNames.ofTheirs(modes ?? []), undefined);
      const options = [...modeOptions(state), ...(configOptions ?? []).map((key) => optionOf(key, null))];
      const { _meta } = metaWithDetails(result, { requiredClientCapabilities });
      return {
        protocolVersion: 1,
        agentInfo: implementation.fromScoped(agentInfo),
        agentCapabilities: agentFromScoped(capabilities),
        authMethods: Array.isArray(logins) ? logins : documentedLogins,
        ...withMetaKeys({ _meta }, { [sessionOptionsKey]: options.length === 0 ? undefined : options }),
      };
    });
  };

  readonly #authenticate: Handler = (params, call) => {
    const { methodId } = params as object as v1.AuthenticateRequest; // our side's
    const credentials = metaValue(params, credentialsKey);
    const request = {
      method: methodId,
      credentials: isObject(credentials) ? credentials : {},
      ...withoutMeta(params, [credentialsKey]),
    };
    call.forwardThen(request, (answer) => {
      if (answer.error !== undefined) return call.refuse(answer.error);
      const { success, error, expiresAt } = answer.result as object as scoped.AuthenticateResponse; // checked
      if (success)
        return call.answer(withMetaKeys(answer.result, { [expiresAtKey]: expiresAt ?? undefined }));
      const details = dialectDetails(answer.result) ?? {};
      const data = isObject(details["data"]) ? details["data"] : {};
      call.refuse(
        refusal("auth_required", error || "the agent refused the login, and did not say why", data),
      );
    });
  };

  readonly #create: Handler = (params, call) => {
    const { cwd, mcpServers, additionalDirectories, systemPrompt } = params as object as v1.NewSessionRequest; // our side's
    if (additionalDirectories?.length) this.exchange.lost("the additional directories of a session");
    const lost = (what: string): void => this.exchange.lost(what);
    const servers = serversFor(mcpServers, this.#agent.mcpCapabilities, lost);
    const request = {
      workingDirectory: cwd,
      ...optional({
        mcpServers: servers.length === 0 ? undefined : servers,
        systemPrompt: this.#systemPrompt(systemPrompt ?? undefined),
      }),
      ...metaField(params),
    };
    call.forward(request, (result) => {
      const { sessionId, createdAt } = result as object as scoped.NewSessionResponse; // checked by its row
      const session = this.#session(sessionId, cwd);
      return { sessionId, ...setupOf(session, undefined), ...metaWithDetails(result, { createdAt }) };
    });
  };

  /** Plain text that is added to the agent's own. */
  #systemPrompt(prompt: v1.SystemPrompt | undefined): string | undefined {
    if (prompt === undefined) return undefined;
    if (prompt.mode !== "append") {
      this.exchange.lost(`a system prompt of mode ${prompt.mode}: the dialect can only add to one`);
      return undefined;
    }
    const texts = prompt.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    if (texts.length < prompt.content.length)
      this.exchange.lost("content of a system prompt that is not text");
    return texts.length === 0 ? undefined : texts.join("\n\n");
  }

  readonly #load: Handler = (params, call) => {
    const { sessionId, mcpServers, cwd } = params as object as v1.LoadSessionRequest; // our side's
    if (mcpServers.length > 0) this.exchange.lost("the MCP servers of a session that is loaded");
    this.#sessions.delete(sessionId);
    const session = this.#session(sessionId, cwd);
    call.forwardThen({ sessionId, ...withoutMeta(params, [storedCwdKey]) }, (answer) => {
      if (answer.error !== undefined) {
        this.#sessions.delete(sessionId);
        return call.refuse(answer.error);
      }
      const { workingDirectory, mode, configOptions, messageCount } =
        answer.result as object as scoped.LoadSessionResponse; // checked by its row
      session.cwd = workingDirectory;
      for (const [key, value] of Object.entries(configOptions)) session.updates.set(key, value);
      const { _meta } = metaWithDetails(answer.result, { workingDirectory, messageCount });
      call.answer({
        ...setupOf(session, mode),
        ...withMetaKeys({ _meta }, { [storedCwdKey]: workingDirectory }),
      });
    });
  };

  readonly #prompt: Handler = (params, call) => {
    const { sessionId, prompt } = params as object as v1.PromptRequest; // our side's
    const takesFiles = this.#agent.promptCapabilities?.attachments !== false;
    const attached = takesFiles ? prompt.flatMap((block) => attachmentOf(block) ?? []) : [];
    const blocks = takesFiles ? prompt.filter((block) => attachmentOf(block) === undefined) : prompt;
    const content = blocks.map((block) => blockToScoped(block, (what) => this.exchange.lost(what)));
    const session = this.#session(sessionId);
    session.running += 1;
    const attachments = attached.length === 0 ? undefined : attached;
    call.forwardThen({ sessionId, content, ...optional({ attachments }), ...metaField(params) }, (answer) => {
      session.running -= 1;
      if (answer.error !== undefined) return call.refuse(answer.error);
      const { stopReason, usage } = answer.result as object as scoped.PromptResponse; // checked by its row
      if (stopReason === "error") {
        const data = { stopReason, ...optional({ usage: usage ?? undefined }) };
        return call.refuse(refusal("internal_error", "the turn ended with an error", data));
      }
      const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
      const tokens =
        usage == null
          ? undefined
          : { totalTokens: inputTokens + outputTokens, inputTokens, outputTokens, ...metaField(usage) };
      const said = detailText(dialectDetails(answer.result)?.["stopReason"]);
      const isOurs = said === "refusal" || said === "max_turn_requests";
      call.answer({
        stopReason: isOurs ? said : stopReason,
        ...optional({ usage: tokens }),
        ...withoutMeta(answer.result, [detailsKey]),
      });
    });
  };

  readonly #setMode: Handler = (params, call) => {
    const { sessionId, modeId } = params as object as v1.SetSessionModeRequest; // our side's
    const { updates } = this.#session(sessionId);
    // the name that a client of the dialect has set, if the agent knows it
    const said = detailText(dialectDetails(params)?.["mode"]);
    const isKnown = said !== undefined && updates.names.declared.includes(said);
    const mode = isKnown ? said : updates.names.theirs(modeId);
    call.forward({ sessionId, mode, ...withoutMeta(params, [detailsKey]) }, (result) => {
      const { previousMode, currentMode } = result as object as scoped.SetModeResponse; // checked by its row
      updates.names.setAs(currentMode);
      updates.mode = updates.names.ours(currentMode);
      return metaWithDetails(result, { previousMode, currentMode });
    });
  };

  readonly #setOption: Handler = (params, call) => {
    const setting = params as object as v1.SetSessionConfigOptionRequest; // our side's
    const { sessionId, configId: key } = setting;
    const { updates } = this.#session(sessionId);
    const request = { sessionId, key, value: valueIn(setting), ...withoutMeta(params, [valueKey]) };
    call.forward(request, (result) => {
      const { currentValue, previousValue } = result as object as scoped.SetConfigOptionResponse; // checked
      const configOptions = updates.set(key, currentValue);
      return { configOptions, ...metaWithDetails(result, { key, previousValue }) };
    });
  };

  readonly #cancel: Handler = (params, call) => {
    if (this.#agent.promptCapabilities?.cancellation === false)
      return this.exchange.lost("the cancel of a turn: the agent cannot cancel");
    const reason = detailText(dialectDetails(params)?.["reason"]);
    call.forward({
      sessionId: params["sessionId"],
      ...optional({ reason }),
      ...withoutMeta(params, [detailsKey]),
    });
  };

  readonly #ask: Handler = (params, call) => {
    const question = params as object as scoped.RequestPermissionRequest; // checked by its row
    if (question.toolCallId == null) this.#questions += 1;
    const toolCallId = question.toolCallId ?? madeUpId(this.#questions);
    call.forward(questionFromScoped(question, toolCallId), answerToScoped);
  };
}

/** The modes and options of a session, as its answer says them. `mode`: the current one, by its name there. */
function setupOf({ updates }: ClientSession, mode: string | undefined): Fields {
  const { names, options } = updates;
  const modes = modesOf(names, mode);
  updates.mode = modes?.currentModeId;
  return optional({ modes, configOptions: options.length === 0 ? undefined : [...options] });
}

/** A session begins in the mode "default", or in the first that there is. */
function modesOf(names: ModeNames, mode: string | undefined): v1.SessionModeState | undefined {
  const { declared } = names;
  const [first] = declared;
  const current = mode ?? (declared.includes("default") ? "default" : first);
  if (current === undefined) return undefined;
  if (mode !== undefined) names.setAs(mode);
  const all = declared.includes(current) ? declared : [...declared, current];
  const availableModes = all.map((name) => ({
    id: names.ours(name),
    name,
    _meta: { [detailsKey]: { mode: name } },
  }));
  return { currentModeId: names.ours(current), availableModes };
}

function modeOptions(state: v1.SessionModeState | undefined): v1.SessionConfigOption[] {
  if (state === undefined) return [];
  const { currentModeId, availableModes } = state;
  const options = availableModes.map(({ id, ...rest }) => ({ value: id, ...rest }));
  return [
    { id: "mode", name: "Mode", category: "mode", type: "select", currentValue: currentModeId, options },
  ];
}
