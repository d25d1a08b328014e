// Sends the requests of sessions to their agent.

import { isObject, optional } from "../../base/objects.ts";
import type { AgentCapabilities } from "../../edition/agent-edition.ts";
import type { ClientEdition } from "../../edition/client-edition.ts";
import { fieldsOf, passThrough } from "../../edition/pass-through.ts";
import {
  type SteeringOutcome,
  steeringKey,
  steeringMethod,
  steeringOutcome,
} from "../../edition/vendor-extensions.ts";
import { metaOf, withMeta } from "../../edition/wire-fields.ts";
import { argumentText, RequestError } from "../../jsonrpc/errors.ts";
import type { NoteHook } from "../../jsonrpc/pending-requests.ts";
import type { ContentBlock, Meta, SessionConfigOption } from "../../model/content.ts";
import type { JsonValue } from "../../model/custom-types.ts";
import type { UnstableFeature } from "../../validation/unstable-features.ts";
import { methodTable } from "../../wire/methods.gen.ts";
import { unsupportedContent } from "../base/bound-wire.ts";
import { abortableCall, checkCall } from "./call-arguments.ts";
import type { CallHooks, ClientWire } from "./client-wire.ts";
import { callHooks } from "./pending-call.ts";
import type { CallOptions, CallResult } from "./session/client-session.ts";

export type SessionRequests = ReturnType<typeof sessionRequests>;

export function sessionRequests(wire: ClientWire, edition: ClientEdition, features: AgentCapabilities) {
  return {
    /** False once the connection ends: nothing can be sent, and all that waits will fail with the reason. */
    get isOpen(): boolean {
      return wire.isOpen;
    },

    /** Whether the agent orders several prompts of one session by itself. */
    get pipelinesPrompts(): boolean {
      return edition.pipelinesPrompts;
    },

    /** Throws for content that may not be sent to this agent. */
    checkPrompt(content: readonly ContentBlock[]): void {
      if (!Array.isArray(content) || content.some((block) => !isObject(block))) {
        const got = Array.isArray(content) ? content.find((block) => !isObject(block)) : content;
        throw new TypeError(`prompt: expected text or a list of content blocks, got ${argumentText(got)}`);
      }
      if (content.length === 0) throw new TypeError("prompt: expected at least one content block, got none");
      const wrong = unsupportedContent(content, features);
      if (wrong !== undefined) throw new TypeError(`prompt: ${wrong}`);
      wire.check("session/prompt", { sessionId: "checked", prompt: [...content] });
    },

    /** `answered` is called when the answer is dispatched, before anything later. Rejects when there is none. */
    async prompt(
      sessionId: string,
      { content, meta }: { readonly content: readonly ContentBlock[]; readonly meta: Meta | undefined },
      hooks: { readonly signal: AbortSignal } & NoteHook,
      answered: (result: object) => void,
    ): Promise<void> {
      const params = { sessionId, prompt: [...content], ...(meta === undefined ? {} : { _meta: meta }) };
      await wire.request("session/prompt", params, { ...hooks, receive: answered });
    },

    get canSteer(): boolean {
      return features.steer;
    },

    /** Gives a message to the work that runs. `answered` is called as for `prompt`, with what became of it. */
    async steer(
      sessionId: string,
      { content, meta }: { readonly content: readonly ContentBlock[]; readonly meta: Meta | undefined },
      hooks: { readonly signal: AbortSignal } & NoteHook,
      answered: (outcome: SteeringOutcome) => void,
    ): Promise<void> {
      // nothing may run by the time that the agent reads it: the message is then still ours to send
      const _meta = { ...meta, [steeringKey]: { idleBehavior: "promptRequired" } };
      const receive = (result: unknown) => answered(steeringOutcome(result));
      await wire.extension(steeringMethod, { sessionId, prompt: [...content], _meta }, { ...hooks, receive });
    },

    /** A request that only passes through. Rejects where the agent does not have it. `done` is called with the answer. */
    async pass<Result extends object = CallResult>(
      method: string,
      params: object,
      options: CallOptions & CallHooks = {},
      done?: () => void,
    ): Promise<Result> {
      checkCall(method, options);
      const { signal, _meta } = options;
      const { sessionId } = params as { readonly sessionId?: string }; // validated when it is sent
      const hooks = callHooks(options, { call: "pass", ...optional({ sessionId }) });
      const row = passThrough.get(method);
      if (row === undefined) throw RequestError.methodNotFound(method);
      needs(features[row.needs], row.offers, methodTable.get(method)?.unstable);
      const receive = (answer: object) => {
        done?.();
        const { fromWire = (given) => ({ ...fieldsOf(given, row.answers), ...metaOf(given) }) } = row;
        return fromWire(answer) as Result; // validated by the method's row
      };
      const call = { ...params, ...withMeta(_meta) };
      return abortableCall(signal, method, () => wire.request(method, call, { signal, ...hooks, receive }));
    },

    cancel(sessionId: string, meta: Meta | undefined): void {
      void wire.notify("session/cancel", { sessionId, ...withMeta(meta) });
    },

    async call(method: string, params: object, options: CallOptions & CallHooks): Promise<CallResult> {
      const { signal, _meta } = options;
      const call = { ...params, ...withMeta(_meta) };
      const hooks = callHooks(options, { call: "plain" });
      return abortableCall(signal, method, () =>
        wire.request(method, call, { signal, ...hooks, receive: metaOf }),
      );
    },

    /** `answered` is called as for `prompt`, with the list of options where the answer has one. */
    async setOption(
      sessionId: string,
      option: SessionConfigOption,
      options: { readonly value: JsonValue } & CallOptions & CallHooks,
      answered: (options: readonly SessionConfigOption[] | undefined) => void,
    ): Promise<CallResult> {
      const { value, signal, _meta } = options;
      const { configId } = option;
      const hooks = callHooks(options, { call: "setConfigOption", sessionId, configId, value });
      const { method, params } = edition.setOption(sessionId, option, value, _meta);
      const receive = (result: object): CallResult => {
        answered(edition.optionsAfter(method, result));
        return metaOf(result);
      };
      return abortableCall(signal, "setConfigOption", () =>
        wire.request(method, params, { signal, ...hooks, receive }),
      );
    },

    /** Undefined when the agent cannot close sessions. `closed` is called as for `prompt`. */
    async close(
      sessionId: string,
      options: CallOptions & CallHooks = {},
      closed: () => void = () => undefined,
    ): Promise<CallResult | undefined> {
      if (!features.close) return undefined;
      const params = { sessionId, ...withMeta(options._meta) };
      const hooks = callHooks(options, { call: "close", sessionId });
      const receive = (result: object): CallResult => {
        closed();
        return metaOf(result);
      };
      const refused = (error: Error): void => void (isUnknownSession(error) && closed());
      try {
        return await wire.request("session/close", params, { ...hooks, receive, refused });
      } catch (error) {
        if (!isUnknownSession(error)) throw error;
        return {};
      }
    },
  };
}

// a session that the agent does not know is closed (C59)
function isUnknownSession(error: unknown): boolean {
  return error instanceof RequestError && /^(?:session_)?not_found$/.test(error.kind);
}

/** Throws for a request that the agent does not support. */
export function needs(offered: boolean, what: string, feature?: UnstableFeature): void {
  if (offered) return;
  const hint = feature === undefined ? "" : `; it is unstable: both sides need unstable: ["${feature}"]`;
  throw new TypeError(`this agent does not ${what}${hint}`);
}
