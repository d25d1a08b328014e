// Recognises the messages of a dialect by their keys. Many of them would pass as version 1, and lose what they mean.

import { isObject } from "../base/objects.ts";
import { ConnectionError, RequestError } from "../jsonrpc/errors.ts";
import type { DialectName } from "./dialect.ts";

type Fields = Readonly<Record<string, unknown>>;
type Tell = (fields: Fields) => boolean;

const has = (fields: Fields, ...names: readonly string[]): boolean =>
  names.some((name) => fields[name] !== undefined);

/** Whether the fields have one of these names, and not the field that version 1 has in their place. */
const insteadOf =
  (ours: string, ...theirs: readonly string[]): Tell =>
  (fields) =>
    !has(fields, ours) && has(fields, ...theirs);

const transports = (fields: Fields): readonly unknown[] =>
  Array.isArray(fields["mcpServers"])
    ? fields["mcpServers"].map((server) => (isObject(server) ? server["transport"] : undefined))
    : [];

/** An empty object may be a mistake in version 1. */
const isMap = (value: unknown): boolean => isObject(value) && Object.keys(value).length > 0;

const envMaps: Tell = ({ mcpServers }) =>
  Array.isArray(mcpServers) && mcpServers.some((server) => isObject(server) && isMap(server["env"]));

/** Requests and notifications, by method. */
const tells: Readonly<Record<DialectName, Readonly<Record<string, Tell>>>> = {
  pharo: {
    initialize: ({ clientCapabilities: can }) => isObject(can) && isMap(can["terminal"]),
    authenticate: (fields) => has(fields, "methodId") && has(fields, "credentials"),
    "session/new": (fields) => transports(fields).some((each) => typeof each === "string") || envMaps(fields),
    "session/load": (fields) =>
      transports(fields).some((each) => typeof each === "string") || envMaps(fields),
    "session/set_config_option": insteadOf("configId", "option"),
    "session/update": ({ update }) => isObject(update) && insteadOf("sessionUpdate", "type")(update),
    "session/request_permission": insteadOf("toolCall", "title"),
    "fs/read_text_file": (fields) => has(fields, "sessionId") && has(fields, "startLine", "lineLimit"),
    "terminal/create": (fields) => has(fields, "sessionId") && isMap(fields["env"]),
    "terminal/wait_for_exit": (fields) => has(fields, "sessionId") && has(fields, "timeout"),
  },
  scoped: {
    initialize: ({ capabilities, clientCapabilities, info, protocolVersion }) =>
      isObject(capabilities) &&
      clientCapabilities === undefined &&
      info === undefined &&
      protocolVersion === 1,
    authenticate: insteadOf("methodId", "method"),
    "session/new": (fields) =>
      insteadOf("cwd", "workingDirectory")(fields) || transports(fields).some(isObject),
    "session/prompt": insteadOf("prompt", "content"),
    "session/set_mode": insteadOf("modeId", "mode"),
    "session/set_config_option": insteadOf("configId", "key"),
    "session/update": (fields) => insteadOf("update", "type")(fields) && has(fields, "data"),
    "session/request_permission": insteadOf("toolCall", "operation"),
    "terminal/output": (fields) => has(fields, "data"),
  },
};

/** Answers, by the method of the request. */
const answerTells: Readonly<Record<DialectName, Readonly<Record<string, Tell>>>> = {
  pharo: {
    initialize: (fields) => {
      const can = isObject(fields["agentCapabilities"]) ? fields["agentCapabilities"] : {};
      const mcp = isObject(can["mcpCapabilities"]) ? can["mcpCapabilities"] : {};
      return (
        has(fields, "authenticationMethods") || has(can, "sessionModes") || has(mcp, "supportedTransports")
      );
    },
    "session/request_permission": insteadOf("outcome", "selectedOptionId"),
    "terminal/wait_for_exit": (fields) => has(fields, "output"),
  },
  scoped: {
    initialize: (fields) =>
      fields["protocolVersion"] === 1 &&
      insteadOf("info", "capabilities", "requiredClientCapabilities")(fields) &&
      !has(fields, "agentCapabilities"),
    authenticate: (fields) => has(fields, "success"),
    "session/new": (fields) => has(fields, "createdAt") && !has(fields, "modes", "configOptions"),
    "session/load": (fields) => has(fields, "messageCount"),
    "session/request_permission": insteadOf("outcome", "granted"),
    "fs/write_text_file": (fields) => has(fields, "bytesWritten"),
    "terminal/wait_for_exit": (fields) => has(fields, "timedOut"),
  },
};

/** The dialect that a request or notification is written in; undefined for one that may be of version 1 or 2. */
export function dialectOf(method: string, params: unknown): DialectName | undefined {
  return found(tells, method, params);
}

/** Whether a request decides for pharo where `initialize` could not tell (8.1). */
export function decidesForPharo(method: string, params: unknown): boolean {
  // a mistake in version 1, and what pharo always sends
  const hasNoCwd = method === "session/load" && isObject(params) && !has(params, "cwd");
  return hasNoCwd || dialectOf(method, params) === "pharo";
}

/** The same for the answer to a request of this method. */
export function dialectOfAnswer(method: string, result: unknown): DialectName | undefined {
  return found(answerTells, method, result);
}

function found(
  table: Readonly<Record<DialectName, Readonly<Record<string, Tell>>>>,
  method: string,
  fields: unknown,
): DialectName | undefined {
  if (!isObject(fields)) return undefined;
  if (table.pharo[method]?.(fields) === true) return "pharo";
  return table.scoped[method]?.(fields) === true ? "scoped" : undefined;
}

/** The sentence for a message of a dialect that is not enabled. */
export function dialectSentence(what: string, dialect: DialectName): string {
  const option = `with parley: --edition ${dialect}, or "edition": "${dialect}" for the agent in the config; for the editor of a bridge --as ${dialect}`;
  return `${what}: this is written in the dialect "${dialect}", which is not enabled here; add "${dialect}" to the editions (${option})`;
}

/** Throws the error to answer a request with that is written in a dialect. */
export function refuseDialect(method: string, params: unknown): void {
  const dialect = dialectOf(method, params);
  if (dialect === undefined) return;
  throw dialectError("invalid_params", method, dialect);
}

/** The same sentence as an error. */
export function dialectError(
  kind: "invalid_params" | "unavailable",
  what: string,
  dialect: DialectName,
): RequestError {
  return new RequestError(kind, dialectSentence(what, dialect), {
    data: { reason: "dialect_not_enabled", dialect },
  });
}

/** The error for an answer to our request that is written in a dialect. */
export function dialectAnswer(method: string, dialect: DialectName): ConnectionError {
  const cause = dialectError("unavailable", `the answer to ${method}`, dialect);
  return new ConnectionError("protocol", cause.message, { cause });
}

const dialectReasons: ReadonlySet<unknown> = new Set(["dialect_not_enabled", "dialect_only"]);

/** Whether an error says that a dialect is not enabled, here or at the peer. */
export function isDialectError(error: unknown): boolean {
  if (error instanceof RequestError) return isObject(error.data) && dialectReasons.has(error.data["reason"]);
  return error instanceof ConnectionError && isDialectError(error.cause);
}
