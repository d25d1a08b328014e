// How a dialect's client opens and loads sessions of our agent. What the dialect says in one request takes version 1
// several.

import type * as v1 from "@parley/acp/v1";
import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import { type Call, type Exchange, type Fields, type Handler, metaField } from "../exchange/exchange.ts";
import { detailsKey, isObject, optional, storedCwdKey } from "../exchange/library.ts";
import type { DialectError } from "../exchange/refusals.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import type { ScopedAgentSession } from "./agent-session.ts";
import { countOf, detailText, dialectDetails, metaValue } from "./details.ts";
import { serverFromScoped } from "./mcp.ts";
import { ModeNames } from "./modes.ts";
import { settingOf, valuesOf, withoutModes } from "./options.ts";

interface SetupSurroundings {
  readonly now: () => number;
  /** What our agent can do. */
  readonly agent: () => v1.AgentCapabilities;
  readonly session: (sessionId: string) => ScopedAgentSession;
  /** A session that nothing is remembered of. */
  readonly renew: (sessionId: string) => ScopedAgentSession;
  readonly forget: (sessionId: string) => void;
}

/** One request of version 1 that a part of the dialect's becomes, and the part. */
interface DialectStep {
  readonly method: string;
  readonly params: object;
  readonly path: string;
}

export class AgentSetup {
  readonly #exchange: Exchange;
  readonly #around: SetupSurroundings;

  constructor(exchange: Exchange, around: SetupSurroundings) {
    this.#exchange = exchange;
    this.#around = around;
  }

  readonly create: Handler = (params, call) => {
    const given = params as object as scoped.NewSessionRequest; // checked by its row
    const { workingDirectory: cwd, mcpServers, systemPrompt } = given;
    const takesPrompt = this.#around.agent().sessionCapabilities?.systemPrompt != null;
    const prompt = systemPrompt ?? undefined;
    const request = {
      cwd,
      mcpServers: (mcpServers ?? []).map(serverFromScoped),
      ...(prompt !== undefined && takesPrompt
        ? { systemPrompt: { mode: "append", content: [{ type: "text", text: prompt }] } }
        : {}),
      ...metaField(params),
    };
    call.forwardThen(request, (answer) => {
      if (answer.error !== undefined) return call.refuse(serverRefusal(answer.error, mcpServers ?? []));
      const result = answer.result as object as v1.NewSessionResponse; // our side's
      const session = this.#around.session(result.sessionId);
      session.cwd = cwd;
      if (!takesPrompt) session.systemPrompt = prompt;
      session.hold();
      begin(session, result);
      const { initialMode, configOptions } = given;
      for (const [key, value] of Object.entries(configOptions ?? {}))
        if (typeof value === "boolean") session.updates.switched.add(key);
      // so that the agent's own report of it is no news
      const mode = initialMode ?? undefined;
      if (mode !== undefined) {
        session.updates.names.setAs(mode);
        session.updates.mode = mode;
      }
      this.#run(stepsOf(given, result, session), session, {
        done: () => this.#created(result, session, given, call),
        failed: (error, path) => this.#failed(result.sessionId, error, path, call),
      });
    });
  };

  #created(
    result: v1.NewSessionResponse,
    session: ScopedAgentSession,
    { initialMode, configOptions }: scoped.NewSessionRequest,
    call: Call,
  ): void {
    const { sessionId } = result;
    const createdAt = detailText(dialectDetails(result)?.["createdAt"]) ?? this.#time();
    call.answer({ sessionId, createdAt, ...withoutMeta(result, [detailsKey]) });
    session.show();
    const { updates } = session;
    const current = result.modes?.currentModeId;
    // a session begins in the mode "default" unless it is told otherwise
    if (initialMode == null && current !== undefined && updates.names.theirs(current) !== "default")
      session.say(updates.modeSet(updates.names.theirs(current)));
    else updates.mode ??= "default";
    // the client knows those that it set
    const others = updates.options.filter(({ id }) => !Object.hasOwn(configOptions ?? {}, id));
    const options = others.map((option) => ({
      type: "config_option_update",
      data: { key: option.id, currentValue: updates.valueOf(option), source: "agent" },
    }));
    session.say(updates.own(options));
  }

  /** Nobody would ever use the session: it is closed, where that can be said. */
  #failed(sessionId: string, error: DialectError, path: string, call: Call): void {
    const data = isObject(error.data) ? error.data : {};
    call.refuse({
      ...error,
      message: `session/new: params${path}: ${error.message}`,
      data: { ...data, path },
    });
    if (this.#around.agent().sessionCapabilities?.close != null)
      this.#exchange.ask("us", "session/close", { sessionId }, () => undefined);
  }

  #run(
    steps: readonly DialectStep[],
    session: ScopedAgentSession,
    then: { done(): void; failed(error: DialectError, path: string): void },
  ): void {
    const [first, ...rest] = steps;
    if (first === undefined) return then.done();
    this.#exchange.ask("us", first.method, first.params, (answer) => {
      if (answer.error !== undefined) return then.failed(answer.error, first.path);
      const options = answer.result["configOptions"];
      if (Array.isArray(options)) session.updates.options = withoutModes(options);
      this.#run(rest, session, then);
    });
  }

  readonly load: Handler = (params, call) => {
    const { sessionId } = params as object as scoped.LoadSessionRequest; // checked by its row
    const before = this.#around.session(sessionId).cwd;
    const session = this.#around.renew(sessionId);
    const request = {
      sessionId,
      cwd: "/",
      mcpServers: [],
      ...withMetaKeys(params, { [storedCwdKey]: true }),
    };
    call.forwardThen(request, (answer) => {
      if (answer.error !== undefined) {
        this.#around.forget(sessionId);
        return call.refuse(answer.error);
      }
      const result = answer.result as object as v1.LoadSessionResponse; // our side's
      begin(session, result);
      const stored = metaValue(result, storedCwdKey) ?? dialectDetails(result)?.["workingDirectory"];
      this.#findCwd(sessionId, detailText(stored) ?? before, (cwd) => {
        session.cwd = cwd;
        session.say(session.updates.messagesOver());
        call.answer(this.#loaded(sessionId, result, session, cwd));
      });
    });
  };

  #loaded(
    sessionId: string,
    result: v1.LoadSessionResponse,
    session: ScopedAgentSession,
    cwd: string,
  ): object {
    const { updates } = session;
    const current = result.modes?.currentModeId;
    updates.mode ??= current === undefined ? "default" : updates.names.theirs(current);
    return {
      sessionId,
      workingDirectory: cwd,
      mode: updates.mode,
      configOptions: valuesOf(updates.options),
      messageCount: countOf(dialectDetails(result)?.["messageCount"]) ?? updates.messages,
      ...withoutMeta(result, [detailsKey, storedCwdKey]),
    };
  }

  /** The dialect wants the working directory, which the agent may only say in its list of sessions. */
  #findCwd(
    sessionId: string,
    known: string | undefined,
    found: (cwd: string) => void,
    cursor?: string,
  ): void {
    if (known !== undefined) return found(known);
    const none = (): void => {
      this.#exchange.lost(`the working directory of the session ${sessionId}, which the agent does not say`);
      found("/");
    };
    if (this.#around.agent().sessionCapabilities?.list == null) return none();
    this.#exchange.ask("us", "session/list", optional({ cursor }), (answer) => {
      if (answer.error !== undefined) return none();
      const { sessions = [], nextCursor } = answer.result as Partial<v1.ListSessionsResponse>; // our side's
      const listed = sessions.find((each) => each.sessionId === sessionId);
      if (listed !== undefined) found(listed.cwd);
      else if (nextCursor == null || nextCursor === cursor) none();
      else this.#findCwd(sessionId, undefined, found, nextCursor);
    });
  }

  #time(): string {
    return new Date(this.#around.now()).toISOString();
  }
}

function begin(session: ScopedAgentSession, { modes, configOptions }: v1.LoadSessionResponse): void {
  const { updates } = session;
  if (modes != null) updates.names = ModeNames.ofOurs(modes.availableModes);
  updates.options = withoutModes(configOptions ?? []);
}

function stepsOf(
  { initialMode, configOptions }: scoped.NewSessionRequest,
  { sessionId }: v1.NewSessionResponse,
  { updates }: ScopedAgentSession,
): DialectStep[] {
  const modeId = initialMode == null ? undefined : updates.names.ours(initialMode);
  const mode: DialectStep[] =
    modeId === undefined
      ? []
      : [{ method: "session/set_mode", params: { sessionId, modeId }, path: "/initialMode" }];
  const values: Fields = configOptions ?? {};
  const options = Object.entries(values).map(([key, value]) => {
    const option = updates.options.find(({ id }) => id === key);
    const params = settingOf(sessionId, key, value, option);
    return { method: "session/set_config_option", params, path: `/configOptions/${key}` };
  });
  return [...mode, ...options];
}

/** Our agent may have no MCP servers over ACP, or not this one: it does not know the names that the document has for them. */
function serverRefusal(error: DialectError, servers: readonly scoped.McpServer[]): DialectError {
  const path = isObject(error.data) ? error.data["path"] : undefined;
  const [, index = "", field] = /^\/mcpServers\/(\d+)\/(type|agentUrl)$/.exec(String(path)) ?? [];
  if (servers[Number(index)]?.transport.type !== "acp" || index === "") return error;
  const at = `/mcpServers/${index}/transport/${field}`;
  if (field === "agentUrl") {
    const refused = `session/new: params${at}: ${error.message}`;
    return { ...error, message: refused, data: { reason: "invalid_params", path: at } };
  }
  const message = `session/new: params${at} must be stdio, http or sse, got "acp": this agent uses no MCP servers over ACP`;
  return { ...error, message, data: { reason: "invalid_params", path: at } };
}
