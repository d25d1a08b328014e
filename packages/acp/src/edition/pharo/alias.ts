// Reads the dialect's names in a connection that speaks version 1: what such a peer says is understood, and what we send
// stays version 1.

import { isObject, optional } from "../../base/objects.ts";
import { modes } from "../../wire/decode.ts";
import type { RequestPermissionRequest, SessionNotification } from "../../wire/pharo/types.gen.ts";
import {
  RequestPermissionRequest as checkQuestion,
  SessionNotification as checkUpdate,
} from "../../wire/pharo/validators.gen.ts";
import { type DialectMachine, type DialectMessage, noStep, type Step } from "../dialect.ts";
import { credentialsKey, storedCwdKey, timeoutKey } from "../dialect-keys.ts";
import { decidesForPharo, dialectOf, dialectOfAnswer } from "../dialect-tells.ts";
import { withMetaKeys } from "../dialects/details.ts";
import { type Fields, metaField } from "../dialects/exchange.ts";
import { settingToV1 } from "./options.ts";
import { callOver, isAllowed, madeUpCall, questionToV1 } from "./permission.ts";
import { mapToList } from "./servers.ts";
import { madeUpMessage, updateToV1 } from "./updates.ts";

/** Reads what the peer of a connection on version 1 says in the dialect. `role` is that of our side. */
export function aliasReader(role: "agent" | "client"): DialectMachine {
  return role === "agent" ? new AgentAliases() : new ClientAliases();
}

const toUs = (...messages: DialectMessage[]): Step => ({ toUs: messages, toPeer: [] });

/** Requests that the public Pharo client sends without an id. */
const sentWithoutId = new Set(["session/set_mode", "session/set_config_option"]);

class AgentAliases implements DialectMachine {
  /** Requests that came without an id, by the id that they got. Nobody waits for their answers. */
  readonly #unanswered = new Set<unknown>();
  #ownIds = 0;

  receive(message: DialectMessage): Step {
    const { method, id, result } = message;
    if (method === undefined) {
      const isSelected = dialectOfAnswer("session/request_permission", result) === "pharo";
      return toUs(isSelected ? { ...message, result: selected(result) } : message);
    }
    const isUnanswered = id === undefined && sentWithoutId.has(method);
    if (!isUnanswered && !decidesForPharo(method, message.params)) return toUs(message);
    const params = isObject(message.params) ? message.params : {};
    const read = { ...message, params: paramsToV1(method, params) };
    if (id !== undefined) return toUs(read);
    const own = `parley:alias:${++this.#ownIds}`;
    this.#unanswered.add(own);
    return toUs({ ...read, id: own });
  }

  send(message: DialectMessage): Step {
    if (message.method === undefined && this.#unanswered.delete(message.id)) return noStep;
    return { toUs: [], toPeer: [message] };
  }
}

function selected(result: unknown): Fields {
  const { selectedOptionId: optionId, ...rest } = result as Fields; // the tell is a field of it
  return { ...rest, outcome: { outcome: "selected", optionId } };
}

/** The rest of the message may be of version 1: its validators have the last word. */
function paramsToV1(method: string, params: Fields): Fields {
  switch (method) {
    case "authenticate": {
      const { credentials, ...rest } = params;
      return { ...rest, ...withMetaKeys(params, { [credentialsKey]: credentials }) };
    }
    case "session/new":
      return { ...params, ...servers(params) };
    case "session/load": {
      const { cwd, ...rest } = params;
      const meta = cwd === undefined ? withMetaKeys(params, { [storedCwdKey]: true }) : {};
      return { ...rest, cwd: cwd ?? "/", ...servers(params), ...meta };
    }
    case "session/set_config_option": {
      const { sessionId, option, value, configId } = params;
      if (typeof sessionId !== "string" || typeof option !== "string" || configId !== undefined)
        return params;
      return settingToV1({ sessionId, option, value, ...metaField(params) }, false);
    }
    default:
      return params;
  }
}

function servers({ mcpServers }: Fields): Fields {
  if (!Array.isArray(mcpServers)) return mcpServers === undefined ? { mcpServers: [] } : {};
  const all = mcpServers.map((server: unknown, index) => {
    if (!isObject(server) || !isPharoServer(server)) return server;
    const { transport, type, ...rest } = server;
    const name = typeof rest["name"] === "string" ? rest["name"] : `server-${index + 1}`;
    const kind = transport ?? type ?? "stdio";
    return {
      ...rest,
      name,
      ...(kind === "stdio" ? { args: rest["args"] ?? [], env: listOf(rest["env"]) } : {}),
      ...(kind === "stdio" ? {} : { type: kind, headers: listOf(rest["headers"]) }),
    };
  });
  return { mcpServers: all };
}

function isPharoServer(server: Fields): boolean {
  return typeof server["transport"] === "string" || isObject(server["env"]) || isObject(server["headers"]);
}

/** A map as a list; anything else as it is. */
function listOf(value: unknown): unknown {
  if (value === undefined) return [];
  // a value that is no string is refused by the validators of version 1
  return isObject(value) ? mapToList(value as { [name: string]: string }) : value;
}

class ClientAliases implements DialectMachine {
  #messages = 0;
  #questions = 0;
  /** Open questions about made-up calls. */
  readonly #asked = new Map<unknown, { question: RequestPermissionRequest; toolCallId: string }>();

  receive(message: DialectMessage): Step {
    const { method = "" } = message;
    if (dialectOf(method, message.params) !== "pharo") return toUs(message);
    const params = isObject(message.params) ? message.params : {};
    switch (method) {
      case "session/update": {
        if (checkUpdate(params, readMode) !== undefined) return toUs(message);
        const { sessionId, update, ...rest } = params as object as SessionNotification; // just checked
        const updates = updateToV1(update, () => `${madeUpMessage}${++this.#messages}`);
        return toUs(...updates.map((each) => ({ ...message, params: { sessionId, update: each, ...rest } })));
      }
      case "session/request_permission": {
        if (checkQuestion(params, readMode) !== undefined) return toUs(message);
        const question = params as object as RequestPermissionRequest; // just checked
        const { params: read, madeUp } = questionToV1(question, () => `${madeUpCall}${++this.#questions}`);
        if (madeUp !== undefined) this.#asked.set(message.id, { question, toolCallId: madeUp });
        return toUs({ ...message, params: read });
      }
      case "fs/read_text_file": {
        const { startLine, lineLimit, ...rest } = params;
        return toUs({ ...message, params: { ...rest, ...optional({ line: startLine, limit: lineLimit }) } });
      }
      case "terminal/create":
        return toUs({ ...message, params: { ...params, env: listOf(params["env"]) } });
      case "terminal/wait_for_exit": {
        const { timeout, ...rest } = params;
        return toUs({ ...message, params: { ...rest, ...withMetaKeys(params, { [timeoutKey]: timeout }) } });
      }
      default:
        return toUs(message);
    }
  }

  send(message: DialectMessage): Step {
    const asked = message.method === undefined ? this.#asked.get(message.id) : undefined;
    if (asked === undefined) return { toUs: [], toPeer: [message] };
    this.#asked.delete(message.id);
    const { question, toolCallId } = asked;
    const params = callOver(question, toolCallId, isAllowed(message.result, question));
    return { toUs: [{ jsonrpc: "2.0", method: "session/update", params }], toPeer: [message] };
  }
}

const readMode = modes.checks | modes.open | modes.extras;
