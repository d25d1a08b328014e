// What the client's sides of both versions share.

import { optional } from "../base/optional.ts";
import type { ElicitationAsk, PermissionAnswer } from "../model/ask.ts";
import type { Outcome } from "../model/update.ts";
import type { SessionListing } from "./agent-ops.ts";
import type { ClientEdition } from "./client-edition.ts";

export function listingFromWire(result: object): { sessions: SessionListing[]; nextCursor?: string } {
  const { sessions, nextCursor } = result as {
    sessions: {
      sessionId: string;
      cwd: string;
      additionalDirectories?: string[];
      title?: string | null;
      updatedAt?: string | null;
    }[];
    nextCursor?: string | null;
  };
  const listed = sessions.map(({ sessionId, cwd, additionalDirectories = [], title, updatedAt }) => ({
    sessionId,
    cwd,
    additionalDirectories,
    ...optional({ title: title ?? undefined, updatedAt: updatedAt ?? undefined }),
  }));
  // a null cursor is the end, an empty one is not (C20)
  return { sessions: listed, ...optional({ nextCursor: nextCursor ?? undefined }) };
}

const neededCounts = ["totalTokens", "inputTokens", "outputTokens"];
const furtherCounts = ["thoughtTokens", "cachedReadTokens", "cachedWriteTokens"];

/** The tokens of a turn. They are unstable and not validated, so values that are no counts are left out. */
export function usageFromWire(usage: unknown): Pick<Outcome, "usage"> {
  if (typeof usage !== "object" || usage === null) return {};
  const counts = usage as Readonly<Record<string, unknown>>; // any JSON
  const isSound =
    neededCounts.every((name) => isCount(counts[name])) &&
    furtherCounts.every((name) => counts[name] == null || isCount(counts[name]));
  return isSound ? { usage: usage as NonNullable<Outcome["usage"]> } : {};
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

export function permissionResultToWire(answer: PermissionAnswer): object {
  return { outcome: answer };
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
  if (rest.mode === "url") return { ...scope, ask: rest as ElicitationAsk };
  if (rest.mode !== "form") return undefined;
  // version 1 takes whatever stands there for "object"; version 2 has refused anything else (E18)
  const requestedSchema = { properties: {}, ...rest.requestedSchema, type: "object" };
  return { ...scope, ask: { ...rest, requestedSchema } as ElicitationAsk };
}
