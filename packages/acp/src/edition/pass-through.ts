// Lists the requests that mean the same in every version: each is one row, which agents, clients and relays follow.

import { RequestError } from "../jsonrpc/errors.ts";
import { methodTable } from "../wire/methods.gen.ts";
import type { AgentOp, PassThroughRow } from "./agent-edition.ts";
import { authStatusFromWire, metaOf, sessionStatusFromWire } from "./wire-fields.ts";

const archive = { needs: "archive", offers: "archive sessions" } as const;
const providers = { needs: "providers", offers: "let clients configure providers" } as const;

export const passThrough = new Map<string, PassThroughRow>([
  ["session/delete", { needs: "delete", offers: "delete sessions" }],
  ["session/archive", { ...archive, handler: "onArchive", patch: () => ({ archived: true }) }],
  ["session/unarchive", { ...archive, handler: "onUnarchive", patch: () => ({ archived: false }) }],
  [
    "session/status",
    {
      needs: "sessionStatus",
      offers: "report the status of sessions",
      handler: "onStatus",
      fromWire: sessionStatusFromWire,
      missingInV1: { state: "the state in the status of a session" },
    },
  ],
  [
    "session/set_title",
    {
      needs: "setTitle",
      offers: "let clients set titles",
      handler: "onSetTitle",
      handlerTakes: ["title"],
      patch: ({ title }, said) => ({ title: cleanTitle(said ?? title), hasUserTitle: true }),
      answers: ["title"],
    },
  ],
  ["auth/status", { needs: "authStatus", offers: "report its login", fromWire: authStatusFromWire }],
  ["providers/list", { ...providers, answers: ["providers"] }],
  ["providers/set", providers],
  ["providers/disable", providers],
]);

/** The operation of a request that only passes through; undefined for others. */
export function passThroughOp(method: string, params: object): AgentOp | undefined {
  const row = passThrough.get(method);
  if (row === undefined) return undefined;
  const { sessionId } = params as { sessionId?: string }; // validated by the method's row
  return {
    op: "pass",
    method,
    row,
    params,
    ...(sessionId !== undefined && { sessionId }),
    ...metaOf(params),
  };
}

/** Whether the session is not open after the request. */
export function closesSession(method: string): boolean {
  return methodTable.get(method)?.session === "closes";
}

/** The fields of an object that are listed. */
export function fieldsOf(from: object | undefined, names: readonly string[] = []): object {
  const all: Readonly<Record<string, unknown>> = { ...from };
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

function cleanTitle(given: unknown): string {
  const title = String(given).trim();
  if (title === "") throw RequestError.invalidParams("a title must not be empty", "/title");
  return title;
}
