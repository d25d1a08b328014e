// Recognises messages that only peers of the dialect send. Small, because it is loaded before anybody knows the dialect.

import { isObject } from "../../base/objects.ts";
import type { DialectMessage } from "../dialect.ts";

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

/** Whether only a client of the dialect sends this: for the side of the agent. */
export function pharoTell(message: DialectMessage): boolean {
  const { id, method, result } = message;
  const params = fieldsOf(message.params);
  switch (method) {
    case undefined:
      return typeof fieldsOf(result)["selectedOptionId"] === "string";
    case "initialize":
      return isObject(fieldsOf(params["clientCapabilities"])["terminal"]);
    case "authenticate":
      return isObject(params["credentials"]);
    case "session/new":
      return listOf(params["mcpServers"]).some(isPharoServer);
    case "session/load":
      return params["cwd"] === undefined || listOf(params["mcpServers"]).some(isPharoServer);
    case "session/set_config_option":
      return id === undefined || (params["option"] !== undefined && params["configId"] === undefined);
    case "session/set_mode":
      return id === undefined;
    default:
      return false;
  }
}

/** Whether a client that asks so may be of the dialect: one flag for all terminals is of version 1. */
export function mayBePharo(initialize: DialectMessage): boolean {
  const capabilities = fieldsOf(fieldsOf(initialize.params)["clientCapabilities"]);
  return typeof capabilities["terminal"] !== "boolean";
}

/** Whether only an agent of the dialect sends this: for the side of the client. */
export function pharoAgentTell(message: DialectMessage): boolean {
  const { method, result } = message;
  const params = fieldsOf(message.params);
  switch (method) {
    case undefined:
      return isPharoIntroduction(fieldsOf(result));
    case "session/update": {
      const update = fieldsOf(params["update"]);
      return typeof update["type"] === "string" && update["sessionUpdate"] === undefined;
    }
    case "session/request_permission":
      return (
        params["toolCall"] === undefined &&
        typeof params["title"] === "string" &&
        listOf(params["options"]).every((option) => option["name"] === undefined)
      );
    case "fs/read_text_file":
      return params["startLine"] !== undefined || params["lineLimit"] !== undefined;
    case "terminal/create":
      return isObject(params["env"]);
    case "terminal/wait_for_exit":
      return typeof params["timeout"] === "number";
    default:
      return false;
  }
}

function isPharoIntroduction(result: Fields): boolean {
  if (!Number.isInteger(result["protocolVersion"])) return false;
  if (result["info"] !== undefined || Number(result["protocolVersion"]) >= 2) return false;
  const can = fieldsOf(result["agentCapabilities"]);
  return (
    Array.isArray(result["authenticationMethods"]) ||
    Array.isArray(can["sessionModes"]) ||
    Array.isArray(fieldsOf(can["mcpCapabilities"])["supportedTransports"])
  );
}

export function isPharoServer(server: Fields): boolean {
  return typeof server["transport"] === "string" || isObject(server["env"]) || isObject(server["headers"]);
}
