// Translates what both versions write alike. Unknown answers to questions never mean yes (A89, A90, A102).

import { isObject, optional } from "../base/objects.ts";
import { extensionIn, extraKey, notificationKey, withoutExtension } from "../base/parley-extensions.ts";
import type { AuthStatus, SessionStatus } from "../model/agent-status.ts";
import type { ElicitationRequest, ElicitationResponse, PermissionOutcome } from "../model/ask.ts";
import type { ContentBlock, Meta } from "../model/content.ts";
import type { PromptResult } from "../model/update.ts";
import type { Activation, AgentOp, ListedSessions, Lost, SessionInfo } from "./agent-edition.ts";
import type { ClientEdition } from "./client-edition.ts";

/** `_meta` of a message as the model has it: absent when there is none. */
export function metaOf(params: object): { _meta?: Meta } {
  const { _meta } = params as { _meta?: Meta | null };
  return optional({ _meta: _meta ?? undefined });
}

export function withMeta(meta: Meta | undefined): { _meta?: Meta } {
  return optional({ _meta: meta });
}

/** The `_meta` of two objects that are one in the other version. The second one's keys win. */
export function bothMeta(outer: object, inner: object): { _meta?: Meta } {
  const { _meta: first } = metaOf(outer);
  const { _meta: second } = metaOf(inner);
  if (first === undefined || second === undefined) return withMeta(second ?? first);
  const [extra, more] = [extensionIn(first, extraKey), extensionIn(second, extraKey)];
  const both = { ...first, ...second };
  if (!isObject(extra) || !isObject(more)) return { _meta: both };
  return { _meta: { ...withoutExtension(both, extraKey), [extraKey]: { ...extra, ...more } } };
}

/** The update of a notification. The custom data of the notification becomes part of that of the update. */
export function updateFromWire({ update, _meta }: { update: object; _meta?: unknown }): object {
  if (_meta == null) return update;
  const { _meta: own } = metaOf(update);
  // a peer may have the key already: what it says there stays
  const before = extensionIn(own, notificationKey);
  const both = isObject(before) && isObject(_meta) ? { ...before, ..._meta } : _meta;
  const rest = own && withoutExtension(own, notificationKey);
  return Object.assign(update, { _meta: { ...rest, [notificationKey]: both } });
}

/** Whether the update has custom data that becomes that of its notification. */
export function movesMeta(update: object): boolean {
  const { _meta: meta } = update as { _meta?: Meta | null };
  return meta != null && isObject(extensionIn(meta, notificationKey));
}

/** The params of the notification that carries the update. */
export function notificationToWire(
  sessionId: string,
  update: object,
): { readonly sessionId: string; readonly update: object } {
  const { _meta: meta } = update as { _meta?: Meta | null };
  // anything but an object is no custom data: it stays where it is
  if (meta == null) return { sessionId, update };
  const own = extensionIn(meta, notificationKey);
  if (!isObject(own)) return { sessionId, update };
  const rest = withoutExtension(meta, notificationKey);
  const { _meta: _, ...bare } = update as { _meta?: unknown };
  const of = Object.keys(rest).length === 0 ? bare : { ...bare, _meta: rest };
  return { sessionId, update: of, ...withMeta(own as Meta) };
}

/** Reports custom data of something that the other version does not have. */
export function lostMeta(value: unknown, what: string, lost?: Lost): void {
  if (lost !== undefined && hasMeta(value)) lost(`the metadata of ${what}`);
}

function hasMeta(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, inner]) => (key === "_meta" && inner != null) || hasMeta(inner));
}

/** A copy of the list; undefined when it is empty. */
export function nonEmpty<Item>(list: readonly Item[]): Item[] | undefined {
  return list.length === 0 ? undefined : [...list];
}

/** The operation of a request that both versions write alike; undefined for others. */
export function sharedOp(method: string, params: object, activation: () => Activation): AgentOp | undefined {
  // validated by the method's row before it comes here
  const { sessionId } = params as { sessionId: string };
  switch (method) {
    case "session/new":
      return { op: "new", activation: activation() };
    case "session/fork":
      return { op: "fork", sessionId, activation: activation() };
    case "session/list": {
      const { cwd, cursor, archived } = params as { [name in "cwd" | "cursor" | "archived"]?: string | null };
      const query = { cwd: cwd ?? undefined, cursor: cursor ?? undefined, archived: archived ?? undefined };
      return { op: "list", ...optional(query), ...metaOf(params) };
    }
    case "session/close":
      return { op: "close", sessionId, ...metaOf(params) };
    case "session/prompt": {
      const { prompt } = params as { prompt: readonly ContentBlock[] };
      return { op: "prompt", sessionId, prompt, ...metaOf(params) };
    }
    default:
      return undefined;
  }
}

export function pageToWire({ sessions, nextCursor, _meta }: ListedSessions): object {
  const listed = sessions.map(
    ({ sessionId, cwd, additionalDirectories, title, archived, updatedAt = "", _meta: meta }) => {
      const time = new Date(updatedAt);
      return {
        sessionId,
        cwd,
        ...optional({
          // another agent may list anything as its time
          updatedAt: Number.isNaN(time.getTime()) ? undefined : time.toISOString(),
          title,
          archived,
          additionalDirectories: nonEmpty(additionalDirectories),
          _meta: meta,
        }),
      };
    },
  );
  return { sessions: listed, ...optional({ nextCursor, _meta }) };
}

/** The custom data of the answer and of the outcome in it is one in the model. */
export function permissionAnswerFromWire(result: object): PermissionOutcome {
  const { outcome } = result as { outcome?: { outcome?: unknown; optionId?: unknown } };
  const meta = bothMeta(result, outcome ?? {});
  if (outcome?.outcome !== "selected" || typeof outcome.optionId !== "string")
    return { outcome: "cancelled", ...meta };
  return { outcome: "selected", optionId: outcome.optionId, ...meta };
}

export function elicitationAnswerFromWire(result: object): ElicitationResponse {
  const { action, content, _meta } = result as {
    action?: unknown;
    content?: Record<string, unknown> | null;
    _meta?: Meta | null;
  };
  const meta = optional({ _meta: _meta ?? undefined });
  if (action === "accept") return { action, ...optional({ content: content ?? undefined }), ...meta };
  return { action: action === "decline" ? "decline" : "cancel", ...meta };
}

/** `hasArchive`: whether the app has enabled the archive. */
export function listingFromWire(
  result: object,
  { hasArchive }: { readonly hasArchive: boolean },
): { sessions: SessionInfo[]; nextCursor?: string; _meta?: Meta } {
  const { sessions, nextCursor } = result as {
    sessions: {
      sessionId: string;
      cwd: string;
      additionalDirectories?: string[];
      title?: string | null;
      updatedAt?: string | null;
      archived?: unknown;
    }[];
    nextCursor?: string | null;
  };
  const listed = sessions.map((session) => {
    const { sessionId, cwd, additionalDirectories = [], title, updatedAt, archived } = session;
    return {
      sessionId,
      cwd,
      additionalDirectories,
      ...optional({
        title: title ?? undefined,
        updatedAt: updatedAt ?? undefined,
        archived: hasArchive && typeof archived === "boolean" ? archived : undefined,
      }),
      ...metaOf(session),
    };
  });
  // a null cursor is the end, an empty one is not (C20)
  return { sessions: listed, ...optional({ nextCursor: nextCursor ?? undefined }), ...metaOf(result) };
}

const authStates: ReadonlySet<unknown> = new Set(["authenticated", "unauthenticated", "not_required"]);

export function authStatusFromWire(status: object): AuthStatus {
  // a state that is not known counts as "unknown" (C66)
  const { state } = status as { state: AuthStatus["state"] };
  // validated by the method's row, which has removed the nulls
  return { ...status, state: authStates.has(state) ? state : "unknown" };
}

export function sessionStatusFromWire(answer: object): SessionStatus {
  // a status that is not known counts as "saved" (C66)
  const { status, state, _meta } = answer as Partial<SessionStatus>;
  return { status: status === "open" ? "open" : "saved", ...optional({ state, _meta }) };
}

const neededCounts = ["totalTokens", "inputTokens", "outputTokens"];
const furtherCounts = ["thoughtTokens", "cachedReadTokens", "cachedWriteTokens"];

/** The tokens of a turn. They are unstable and not validated, so values that are no counts are left out. */
export function usageFromWire(usage: unknown): Pick<PromptResult, "usage"> {
  if (typeof usage !== "object" || usage === null) return {};
  const counts = usage as Readonly<Record<string, unknown>>; // any JSON
  const isSound =
    neededCounts.every((name) => isCount(counts[name])) &&
    furtherCounts.every((name) => counts[name] == null || isCount(counts[name]));
  return isSound ? { usage: usage as NonNullable<PromptResult["usage"]> } : {};
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

export function elicitationFromWire(params: object): ReturnType<ClientEdition["elicitation"]> {
  const { sessionId, requestId, ...rest } = params as {
    sessionId?: string;
    requestId?: number | string | null;
    mode?: unknown;
    requestedSchema?: { type?: string; properties?: object };
  };
  const scope = optional({ sessionId, requestId: requestId ?? undefined });
  // validated by the method's row; an unknown mode must not be taken for a known one (C47)
  if (rest.mode === "url") return { ...scope, ask: rest as ElicitationRequest };
  if (rest.mode !== "form") return undefined;
  // version 1 takes whatever stands there for "object"; version 2 has refused anything else (E18)
  const requestedSchema = { properties: {}, ...rest.requestedSchema, type: "object" };
  return { ...scope, ask: { ...rest, requestedSchema } as ElicitationRequest };
}
