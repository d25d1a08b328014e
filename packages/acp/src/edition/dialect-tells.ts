// Recognises messages of the known dialects where they are not enabled, to refuse them with a sentence that says what to do.
// Only messages that version 1 does not take are looked at, the handshake, and a few that it would take without their meaning.

import { isObject } from "../base/objects.ts";
import { ConnectionError, RequestError } from "../jsonrpc/errors.ts";
import type { DialectTells } from "../wire/method-row.ts";

/**
 * A field that only this dialect has, by its path: `*` stands for each item of a list, and a path that ends with `/` for an
 * object that is not empty. `ours`: the field that version 1 has in its place.
 */
type Tell = readonly [dialect: string, path: string, ours?: string];
/** The dialects that are recognised. */
export const knownDialects: readonly unknown[] = ["pharo", "scoped"];

type Tells = Readonly<Record<string, readonly Tell[]>>;

const servers: readonly Tell[] = [
  ["scoped", "mcpServers/*/transport/"],
  ["pharo", "mcpServers/*/transport"],
  ["pharo", "mcpServers/*/env/"],
];

const params: Tells = {
  initialize: [
    ["pharo", "clientCapabilities/terminal/"],
    ["scoped", "capabilities", "clientCapabilities"],
  ],
  authenticate: [
    ["scoped", "method", "methodId"],
    ["pharo", "credentials"],
  ],
  "session/new": [["scoped", "workingDirectory", "cwd"], ...servers],
  "session/load": servers,
  "session/prompt": [["scoped", "content", "prompt"]],
  "session/set_mode": [["scoped", "mode", "modeId"]],
  "session/set_config_option": [
    ["pharo", "option", "configId"],
    ["scoped", "key", "configId"],
  ],
  "session/update": [
    ["pharo", "update/type", "update/sessionUpdate"],
    ["scoped", "data", "update"],
  ],
  "session/request_permission": [
    ["pharo", "title", "toolCall"],
    ["scoped", "operation", "toolCall"],
  ],
  "fs/read_text_file": [
    ["pharo", "startLine"],
    ["pharo", "lineLimit"],
  ],
  "terminal/create": [["pharo", "env/"]],
  "terminal/wait_for_exit": [["pharo", "timeout"]],
};

/** Of answers, by the method of the request. */
const results: Tells = {
  initialize: [
    ["pharo", "authenticationMethods"],
    ["pharo", "agentCapabilities/sessionModes"],
    ["pharo", "agentCapabilities/mcpCapabilities/supportedTransports"],
    ["scoped", "capabilities", "agentCapabilities"],
    ["scoped", "requiredClientCapabilities", "agentCapabilities"],
  ],
  "session/request_permission": [
    ["pharo", "selectedOptionId", "outcome"],
    ["scoped", "granted", "outcome"],
  ],
  "fs/write_text_file": [["scoped", "bytesWritten"]],
  "terminal/wait_for_exit": [
    ["pharo", "output"],
    ["scoped", "timedOut"],
  ],
};

/** The dialect that a request or notification is written in; undefined for one that may be of version 1 or 2. */
export function dialectOfParams(method: string, value: unknown): string | undefined {
  return told(params[method], method, value);
}

/** The same for the answer to a request of this method. */
export function dialectOfResult(method: string, value: unknown): string | undefined {
  return told(results[method], method, value);
}

/** How version 1 recognises dialects in what it receives. */
export const dialectTells: DialectTells = {
  params: dialectOfParams,
  result: dialectOfResult,
  // it has no rule against fields that it does not know
  paramsThatPass: new Set(["authenticate", "fs/read_text_file", "terminal/wait_for_exit"]),
  resultsThatPass: new Set(["fs/write_text_file", "terminal/wait_for_exit"]),
};

function told(tells: readonly Tell[] = [], method: string, value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  // version 2 has fields of these names
  const { protocolVersion, info } = value;
  if (method === "initialize" && (info !== undefined || protocolVersion === 2)) return undefined;
  const found = tells.find(
    ([, path, ours]) => has(value, path.split("/")) && (ours === undefined || !has(value, ours.split("/"))),
  );
  return found?.[0];
}

function has(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return value !== undefined;
  if (name === "") return isObject(value) && Object.keys(value).length > 0;
  if (name === "*") return Array.isArray(value) && value.some((item) => has(item, rest));
  return isObject(value) && has(value[name], rest);
}

/** The sentence for a message of a dialect that is not enabled. */
export function dialectSentence(what: string, dialect: string): string {
  const option = `with parley: --edition ${dialect}, or "edition": "${dialect}" for the agent in the config; for the editor of a bridge --as ${dialect}`;
  return `${what}: this is written in the dialect "${dialect}", which is not enabled here; add "${dialect}" to the editions (${option})`;
}

/** Throws the error to answer `initialize` with where it is written in a dialect. */
export function refuseDialect(initialize: unknown): void {
  const dialect = dialectOfParams("initialize", initialize);
  if (dialect !== undefined) throw dialectError("invalid_params", "initialize", dialect);
}

/** The same sentence as an error. */
export function dialectError(
  kind: "invalid_params" | "unavailable",
  what: string,
  dialect: string,
): RequestError {
  return new RequestError(kind, dialectSentence(what, dialect), {
    data: { reason: "dialect_not_enabled", dialect },
  });
}

/** The error for an answer to our request that is written in a dialect. */
export function dialectAnswer(method: string, dialect: string): ConnectionError {
  const cause = dialectError("unavailable", `the answer to ${method}`, dialect);
  return new ConnectionError("protocol", cause.message, { cause });
}

const dialectReasons: ReadonlySet<unknown> = new Set(["dialect_not_enabled", "dialect_only"]);

/** Whether an error says that a dialect is not enabled, here or at the peer. */
export function isDialectError(error: unknown): boolean {
  if (error instanceof RequestError) return isObject(error.data) && dialectReasons.has(error.data["reason"]);
  return error instanceof ConnectionError && isDialectError(error.cause);
}
