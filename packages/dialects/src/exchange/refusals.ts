// The errors that a machine answers with itself, in the numbers of version 1.

import type { DialectMessage } from "@parley/acp/transport";
import { describeFailure, errorCodes, type Failure, isObject } from "./library.ts";

export type DialectError = NonNullable<DialectMessage["error"]>;

export function failed(id: number | string | null, error: DialectError): DialectMessage {
  return { jsonrpc: "2.0", id, error };
}

/** Names and paths are the peer's, and error data is at most 1 KiB. */
function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

export function invalidParams(method: string, failure: Failure): DialectError {
  const kind = failure.limit ? "limit_exceeded" : "invalid_params";
  failure.path = shortened(failure.path);
  return refusal(kind, describeFailure(method, "params", failure), { path: failure.path });
}

export function invalidResult(method: string, failure: Failure): DialectError {
  failure.path = shortened(failure.path);
  return refusal("internal_error", describeFailure(method, "result", failure), { path: failure.path });
}

export function methodNotFound(method: string): DialectError {
  return refusal("method_not_found", "method not found", { method: shortened(method) });
}

export function invalidRequest(message: string): DialectError {
  return { code: errorCodes.invalid_request, message, data: { reason: "duplicate_id", path: "/id" } };
}

/** An error of this kind. */
export function refusal(kind: keyof typeof errorCodes, message: string, data: object = {}): DialectError {
  return { code: errorCodes[kind], message, data: { reason: kind, ...data } };
}

/** The client's answer to an agent of another version: the documents have only version 1. */
export function otherVersion({
  protocolVersion,
}: {
  readonly protocolVersion: number;
}): DialectError | undefined {
  if (protocolVersion === 1) return undefined;
  const message = `the agent answered with version ${protocolVersion} of the protocol, this client speaks 1: update one of the two`;
  return refusal("unsupported_version", message, { requested: 1, answered: protocolVersion });
}

/** An error about a request in the dialect's words: `names` has the fields of version 1 that it calls otherwise. */
export function inWordsOf(names: ReadonlyMap<string, string>, error: DialectError): DialectError {
  const { message, data } = error;
  // the dialects have no such method
  let words = message.replace(": open a new one, or load one that session/list shows", ": open a new one");
  const path = isObject(data) ? data["path"] : undefined;
  const name =
    typeof path === "string" ? Array.from(names.keys()).find((each) => isBelow(path, each)) : undefined;
  const told = name === undefined ? undefined : names.get(name);
  if (typeof path !== "string" || name === undefined || told === undefined)
    return { ...error, message: words };
  words = words.replace(`params${name}`, `params${told}`);
  return { ...error, message: words, data: { ...(data as object), path: told + path.slice(name.length) } };
}

function isBelow(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}/`);
}
