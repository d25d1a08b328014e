// Checks the arguments of calls to an agent, and stops waiting for calls that are aborted.

import { abortable } from "../../base/abortable.ts";
import { checkOptions } from "../../base/known-options.ts";
import { optional } from "../../base/objects.ts";
import { callKeys } from "../../base/option-keys.gen.ts";
import { credentialsKey, expiresAtKey } from "../../base/parley-extensions.ts";
import type { Credentials } from "../../edition/agent-edition.ts";
import { understands } from "../../edition/dialect.ts";
import { metaOf } from "../../edition/wire-fields.ts";
import { argumentText, ConnectionError } from "../../jsonrpc/errors.ts";
import type { AuthMethod } from "../../model/content.ts";
import type { ClientConnection, LoginResult } from "./client-connection.ts";
import type { CallHooks } from "./client-wire.ts";
import { checkSignal } from "./session/prompt-handle.ts";

/** Throws a TypeError for an option that does not exist. Those that a relay and this library add are no options. */
export function checkCall(
  method: string,
  { sent, note, resumed, ...options }: object & CallHooks,
  known: Readonly<Record<string, true>> = callKeys,
): void {
  checkOptions(method, options, known);
}

/** Throws a TypeError for a path that is not absolute on any system: the agent's may not be ours. */
export function checkAbsolute(method: string, field: string, path: unknown): void {
  if (typeof path === "string" && /^(?:\/|\\\\|[a-z]:[\\/])/i.test(path)) return;
  throw new TypeError(
    `${method}: ${field} must be an absolute path such as "/home/me/project", got ${argumentText(path)}`,
  );
}

/** Rejects with "aborted" as soon as the signal aborts. The work goes on, and what it gives is dropped. */
export async function abortableCall<Result>(
  signal: AbortSignal | undefined,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (signal === undefined) return work();
  checkSignal(what, signal);
  if (signal.aborted) throw abortError(signal, what);
  return abortable(signal, work(), () => abortError(signal, what));
}

export function abortError(signal: AbortSignal | undefined, what: string): ConnectionError {
  return new ConnectionError("aborted", `${what}: aborted`, { cause: signal?.reason });
}

/** Throws a TypeError for a method that the agent does not have, or that is never sent to it. */
export function checkLogin(methodId: string, methods: readonly AuthMethod[]): void {
  const method = methods.find((each) => each.methodId === methodId);
  if (method === undefined) {
    const known = methods.map((each) => String(each.methodId)).join(", ");
    throw new TypeError(`login: the agent has no method ${methodId}; it has: ${known || "none"}`);
  }
  // never sent to the agent (C11)
  if (method.type === "terminal")
    throw new TypeError(
      `login: ${methodId} is a terminal login: run the agent's program with its arguments, then connect again`,
    );
}

/** Throws a TypeError for credentials that the agent has no place for. */
export function checkCredentials(
  credentials: Credentials | undefined,
  { edition, dialect }: Pick<ClientConnection, "edition" | "dialect">,
): void {
  if (credentials === undefined || understands(dialect, credentialsKey)) return;
  throw new TypeError(
    `login: this agent speaks ${edition}, which has no place for credentials, and they were not sent; give them to the agent as variables of its environment, or use its other methods`,
  );
}

/** The end of the login is custom data of the answer. */
export function loginResult(answer: object): LoginResult {
  const { _meta } = metaOf(answer);
  const expiresAt = _meta?.[expiresAtKey];
  return optional({ expiresAt: typeof expiresAt === "string" ? expiresAt : undefined, _meta });
}
