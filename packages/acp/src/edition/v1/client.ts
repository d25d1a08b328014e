// The client's side of version 1.

import { isObject, optional } from "../../base/objects.ts";
import { credentialsKey, valueKey } from "../../base/parley-extensions.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { ContentBlock, Implementation, SessionConfigOption } from "../../model/content.ts";
import { isJsonOption, type JsonValue } from "../../model/custom-types.ts";
import {
  type PromptError,
  type PromptResult,
  type SessionUpdate,
  type StopReason,
  wireError,
} from "../../model/update.ts";
import { WholeFirst } from "../../model/whole-first.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { AgentIntroduction, WireCall } from "../agent-edition.ts";
import { agentPlaces, fromWire } from "../capabilities.ts";
import { partsMetaFromV1 } from "../capability-meta.ts";
import type { ClientEdition, ClientSessionEdition, ClientSessionSink } from "../client-edition.ts";
import type { MessageNames } from "../message-names.ts";
import { steeringKey } from "../vendor-extensions.ts";
import { elicitationFromWire, metaOf, usageFromWire, withMeta } from "../wire-fields.ts";
import { activationToV1, authMethodFromV1 } from "./activation.ts";
import { modeConfigId, modelConfigId, optionsFromResult, optionsFromV1 } from "./config-options.ts";
import { permissionFromV1 } from "./permission.ts";
import { service } from "./service.ts";
import { V1UpdateDecoder } from "./update-decoder.ts";

export { methods } from "./methods.ts";

export const v1ClientEdition: ClientEdition = {
  name: "v1",
  pipelinesPrompts: false,
  agent,
  login: (methodId, meta, credentials) => ({
    method: "authenticate",
    params: {
      methodId,
      ...withMeta(credentials === undefined ? meta : { ...meta, [credentialsKey]: credentials }),
    },
  }),
  logout: (meta) => ({ method: "logout", params: withMeta(meta) }),
  open: (activation) => ({ method: "session/new", params: activationToV1(activation) }),
  activate: (sessionId, activation, replay) => ({
    method: replay ? "session/load" : "session/resume",
    params: { sessionId, ...activationToV1(activation) },
  }),
  setup: (result, sessionId) => ({
    sessionId: (result as { sessionId?: string }).sessionId ?? sessionId ?? "",
    configOptions: optionsFromResult(result),
    availableCommands: [],
    ...metaOf(result),
  }),
  setOption,
  optionsAfter: (method, result) =>
    method === "session/set_config_option"
      ? optionsFromV1((result as wire.SetSessionConfigOptionResponse).configOptions)
      : undefined,
  session: (unstable, names) => new V1ClientSession(unstable, names),
  permission(params, titleOf) {
    const request = params as wire.RequestPermissionRequest;
    const { sessionId, toolCall } = request;
    return { sessionId, ask: permissionFromV1(request, titleOf(sessionId, toolCall.toolCallId)) };
  },
  elicitation: elicitationFromWire,
  service,
  repair: () => undefined,
};

function agent(result: object): AgentIntroduction {
  const { agentInfo, agentCapabilities: can = {}, authMethods = [] } = result as wire.InitializeResponse;
  return {
    info: (agentInfo ?? undefined) as Implementation | undefined, // validated by the method's row
    capabilities: {
      ...fromWire(agentPlaces, 1, can),
      steer: takesSteering(result),
      ...metaOf(can),
      ...partsMetaFromV1(can),
    },
    authMethods: authMethods.map(authMethodFromV1),
    ...metaOf(result),
  };
}

function takesSteering(result: object): boolean {
  const steering = (result as wire.InitializeResponse)._meta?.[steeringKey];
  return isObject(steering) && steering["supported"] === true;
}

/** Options that stand for modes and models are set the way version 1 sets those. */
function setOption(
  sessionId: string,
  option: SessionConfigOption,
  value: JsonValue,
  meta: wire.Meta | undefined,
): WireCall {
  const common = { sessionId, ...withMeta(meta) };
  if (option.configId === modeConfigId) {
    return { method: "session/set_mode", params: { ...common, modeId: String(value) } };
  }
  if (option.configId === modelConfigId) {
    return { method: "session/set_model", params: { ...common, modelId: String(value) } };
  }
  if (isJsonOption(option)) {
    const _meta = { ...meta, [valueKey]: value };
    const params = { sessionId, configId: option.configId, value: JSON.stringify(value), _meta };
    return { method: "session/set_config_option", params };
  }
  const type = typeof value === "boolean" ? { type: "boolean" } : {};
  return {
    method: "session/set_config_option",
    params: { ...common, configId: option.configId, ...type, value },
  };
}

/** Makes up the states and echoes that version 1 does not have. */
class V1ClientSession implements ClientSessionEdition {
  readonly #decoder: V1UpdateDecoder;
  /** Exists while a replay runs: version 1 sends the pieces of messages, which the app may still have. */
  #wholes: WholeFirst | undefined;
  #open: number | undefined;
  /** Of the open prompt. */
  #echo: PromptEcho | undefined;
  readonly #joined: number[] = [];
  #cancelled = false;

  constructor(unstable: UnstableFeatures, names: MessageNames) {
    this.#decoder = new V1UpdateDecoder(unstable, names);
  }

  setOptions(options: readonly SessionConfigOption[]): void {
    this.#decoder.options = options;
  }

  optionsChanged(options: readonly SessionConfigOption[]): readonly SessionConfigOption[] {
    return this.#decoder.withStandIns(options);
  }

  setReplaying(replaying: boolean): void {
    this.#echo = undefined;
    this.#decoder.setReplaying(replaying);
    this.#wholes = replaying ? new WholeFirst() : undefined;
  }

  receive(given: object, out: ClientSessionSink): void {
    const update = given as wire.SessionUpdate; // validated by the method's row
    if (this.#echo === undefined) return this.#take(update, out);
    for (const each of this.#echo.take(update)) this.#take(each, out);
  }

  #take(update: wire.SessionUpdate, out: ClientSessionSink): void {
    const decoder = this.#decoder;
    const decoded = decoder.decode(update, out);
    if (decoder.terminals.length === 0) return this.#show(decoded, out);
    const terminals = decoder.terminals.splice(0);
    if (saysMore(decoded)) this.#show(decoded, out);
    for (const each of terminals) this.#show(each, out);
  }

  #show(update: SessionUpdate, out: ClientSessionSink): void {
    if (this.#wholes === undefined) out.update(update);
    else for (const each of this.#wholes.take(update)) out.update(each);
  }

  promptSent(prompt: number, content: readonly ContentBlock[], out: ClientSessionSink): void {
    this.#open = prompt;
    this.#cancelled = false;
    this.#decoder.endRun();
    const messageId = this.#decoder.mintMessageId("user_message_chunk");
    out.update({ sessionUpdate: "state_update", state: "running" });
    out.accepted(prompt, messageId);
    out.update({ sessionUpdate: "user_message", messageId, content: [...content] });
    this.#echo = new PromptEcho(content);
  }

  steered(prompt: number, content: readonly ContentBlock[], isJoined: boolean, out: ClientSessionSink): void {
    this.#decoder.endRun();
    const messageId = this.#decoder.mintMessageId("user_message_chunk");
    out.accepted(prompt, messageId);
    out.update({ sessionUpdate: "user_message", messageId, content: [...content] });
    if (isJoined && this.#open !== undefined) this.#joined.push(prompt);
    // no answer will say when this work ends
    else out.outcome(prompt, { stopReason: "_detached" });
  }

  promptAnswered(prompt: number, result: object, out: ClientSessionSink): void {
    const { stopReason, usage } = result as wire.PromptResponse;
    const more = { ...usageFromWire(usage), ...metaOf(result) };
    this.#end(prompt, { stopReason: this.#reason(stopReason), ...more }, out);
  }

  promptFailed(prompt: number, error: Error, out: ClientSessionSink): void {
    const withdrawn = error instanceof RequestError && error.kind === "cancelled";
    if (withdrawn || this.#cancelled) return this.#end(prompt, { stopReason: "cancelled" }, out);
    const data = error instanceof RequestError ? { error: errorOf(error) } : {};
    const joined = this.#takeJoined(prompt);
    this.#rest(prompt, { stopReason: "error", ...data }, out);
    out.failed(prompt, error);
    for (const each of joined) out.failed(each, error);
  }

  cancelled(): void {
    if (this.#open !== undefined) this.#cancelled = true;
  }

  interrupted(out: ClientSessionSink): void {
    if (this.#open !== undefined) this.#rest(this.#open, { stopReason: this.#reason("error") }, out);
  }

  #reason(stopReason: wire.StopReason | "error"): StopReason {
    return this.#cancelled ? "cancelled" : stopReason;
  }

  #end(prompt: number, outcome: PromptResult, out: ClientSessionSink): void {
    const joined = this.#takeJoined(prompt);
    // a message for running work that fails does not take back the cancel of that work
    if (this.#open === prompt) this.#cancelled = false;
    this.#rest(prompt, outcome, out);
    out.outcome(prompt, outcome);
    for (const each of joined) out.outcome(each, { ...outcome, joined: true });
  }

  /** The messages that joined the work on this prompt, which end with it. */
  #takeJoined(prompt: number): readonly number[] {
    return this.#open === prompt ? this.#joined.splice(0) : [];
  }

  /** Reports once that the work on the prompt has ended. */
  #rest(prompt: number, outcome: PromptResult, out: ClientSessionSink): void {
    if (this.#open !== prompt) return;
    for (const each of this.#echo?.end() ?? []) this.#take(each, out);
    this.#echo = undefined;
    // text after a turn that failed is another message
    if (outcome.stopReason === "end_turn") this.#decoder.endTurn();
    else this.#decoder.endRun();
    this.#open = undefined;
    const { stopReason, usage, _meta: meta, error } = outcome;
    out.update({
      sessionUpdate: "state_update",
      state: "idle",
      stopReason: stopReason as "end_turn", // an unknown reason is kept as it came
      ...optional({ error: error && wireError(error), usage, _meta: meta }),
    });
  }
}

/** Whether an update of a call says anything beside its id. */
function saysMore(update: SessionUpdate): boolean {
  return Object.keys(update).length > 2;
}

function errorOf({ kind, code, message, data }: RequestError): PromptError {
  return { kind, code, message, ...optional({ data }) };
}

/** An echo comes before anything else of a turn, in one piece or in several. */
export class PromptEcho {
  /** The text that is left, without spaces: agents join the blocks of a prompt in their own ways. */
  #left: string;
  readonly #blocks: readonly ContentBlock[];
  #isOver = false;
  /** Pieces that may be the beginning of something else. */
  #held: wire.SessionUpdate[] = [];

  constructor(content: readonly ContentBlock[]) {
    this.#left = solid(content.map((block) => (block.type === "text" ? block.text : "")).join(""));
    this.#blocks = content.filter(({ type }) => type !== "text");
  }

  /** The updates that can be shown now: none for a piece of the echo; otherwise with those that proved to be none. */
  take(update: wire.SessionUpdate): readonly wire.SessionUpdate[] {
    if (this.#isOver || !isContent(update)) return [update];
    if (update.sessionUpdate === "user_message_chunk" && this.#continues(update.content)) {
      this.#held = this.#left === "" ? [] : [...this.#held, update];
      return [];
    }
    return [...this.end(), update];
  }

  /** The pieces of an echo that was never completed. */
  end(): readonly wire.SessionUpdate[] {
    this.#isOver = true;
    return this.#held.splice(0);
  }

  #continues(block: wire.ContentBlock): boolean {
    if (block.type !== "text") return this.#blocks.some((each) => isSame(each, block));
    const text = solid(block.text);
    // a text behind the whole echo is another message
    if (this.#left === "" || !this.#left.startsWith(text)) return false;
    this.#left = this.#left.slice(text.length);
    return true;
  }
}

function solid(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

/** Settings of the session may come at any time. */
function isContent({ sessionUpdate }: wire.SessionUpdate): boolean {
  return /^(?:user|agent|tool|plan)/.test(sessionUpdate);
}

function isSame(one: object, other: object): boolean {
  const [a, b] = [one, other] as Record<string, unknown>[]; // only compared
  return ["type", "uri", "data", "resource"].every(
    (field) => JSON.stringify(a?.[field]) === JSON.stringify(b?.[field]),
  );
}
