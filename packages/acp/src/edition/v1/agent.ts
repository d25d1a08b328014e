// The agent's side of version 1.

import { type Immutable, isObject, optional } from "../../base/objects.ts";
import { credentialsKey, sessionOptionsKey, valueKey } from "../../base/parley-extensions.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { PermissionRequest } from "../../model/ask.ts";
import type { Implementation, SessionConfigOption } from "../../model/content.ts";
import type { PromptResult } from "../../model/update.ts";
import { methodTable } from "../../wire/methods.gen.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type {
  AgentEdition,
  AgentIntroduction,
  AgentOp,
  AgentOpResult,
  ClientCapabilities,
  Introduction,
  Lost,
  OptionsOf,
  WireCall,
} from "../agent-edition.ts";
import { agentPlaces, clientPlaces, fromWire, toWire } from "../capabilities.ts";
import { partsMetaFromV1, withPartsMetaInV1 } from "../capability-meta.ts";
import { passThrough, passThroughOp } from "../pass-through.ts";
import { steeringKey, terminalOutputKey } from "../vendor-extensions.ts";
import { metaOf, pageToWire, sharedOp, withMeta } from "../wire-fields.ts";
import { activationFromV1, authMethodToV1 } from "./activation.ts";
import { modelsToV1, modesToV1, optionsToV1, selectOf, valueForOption } from "./config-options.ts";
import { permissionOverInV1, permissionToV1 } from "./permission.ts";
import { V1UpdateEncoder } from "./update-encoder.ts";

export { methods } from "./methods.ts";

export const v1AgentEdition: AgentEdition = {
  version: 1,
  prompts: {
    answersAtInsertion: false,
    inserted: () => ({}),
    ended: promptResult,
  },
  setupHasCommands: false,
  reinitializes: false,
  showsDiffTexts: true,
  hasWholeMessages: false,
  initializeParams: (params) => params,
  authMethods: (methods) => methods.map((method) => authMethodToV1(method)),
  client,
  introduce,
  decode,
  encode,
  session(setup, features, takesJson) {
    const encoder = new V1UpdateEncoder(features, takesJson);
    encoder.setMode(selectOf(setup.configOptions, "mode")?.currentValue);
    return encoder;
  },
  permission: (sessionId, ask: PermissionRequest, lost): WireCall => ({
    method: "session/request_permission",
    params: permissionToV1(sessionId, ask, lost),
  }),
  permissionOver: permissionOverInV1,
};

function client(params: object): Introduction<ClientCapabilities> {
  const { clientInfo, clientCapabilities: can = {} } = params as wire.InitializeRequest;
  return {
    info: (clientInfo ?? undefined) as Implementation | undefined, // validated by the method's row
    capabilities: {
      ...fromWire(clientPlaces, 1, can),
      ...withMeta(without(can._meta, terminalOutputKey)),
      ...partsMetaFromV1(can),
    },
    ...metaOf(params),
  };
}

function introduce(agent: AgentIntroduction, lost?: Lost): Immutable<wire.InitializeResponse> {
  const { partsMeta, steer } = agent.capabilities;
  const { sessionOptions: options } = agent;
  const declared: wire.AgentCapabilities = {
    ...toWire(agentPlaces, 1, agent.capabilities, {}),
    ...metaOf(agent.capabilities),
  };
  const keys = {
    ...(steer ? { [steeringKey]: { supported: true } } : {}),
    ...(options
      ? { [sessionOptionsKey]: optionsToV1(options, { knowsBooleans: true, knowsJson: true }) }
      : {}),
  };
  return {
    protocolVersion: 1,
    agentCapabilities: withPartsMetaInV1(declared, partsMeta, lost),
    authMethods: agent.authMethods.map((method) => authMethodToV1(method, lost)),
    ...optional({ agentInfo: agent.info }),
    ...withMeta(Object.keys(keys).length === 0 ? agent._meta : { ...agent._meta, ...keys }),
  };
}

function decode(method: string, given: object, optionsOf: OptionsOf): AgentOp | undefined {
  // validated by the method's row before it comes here
  const params = given as wire.LoadSessionRequest;
  const { sessionId } = params;
  switch (method) {
    case "authenticate":
      return loginFromV1(given as wire.AuthenticateRequest);
    case "logout":
      return { op: "logout", ...metaOf(given) };
    case "session/load":
    case "session/resume":
      return {
        op: "activate",
        sessionId,
        activation: activationFromV1(params),
        replay: method === "session/load",
      };
    case "session/set_mode":
      return {
        ...byCategory("mode", given as wire.SetSessionModeRequest, optionsOf(sessionId)),
        ...metaOf(given),
      };
    case "session/set_model": {
      const { modelId } = given as { modelId?: unknown };
      return {
        ...byCategory("model", { sessionId, modeId: String(modelId) }, optionsOf(sessionId)),
        ...metaOf(given),
      };
    }
    case "session/set_config_option": {
      const { configId, value } = given as wire.SetSessionConfigOptionRequest;
      const option = optionsOf(sessionId).find((each) => each.configId === configId);
      const { _meta } = metaOf(given);
      return {
        op: "set_option",
        sessionId,
        configId,
        value: valueForOption(option, value, _meta),
        ...withMeta(without(_meta, valueKey)),
      };
    }
    default:
      return sharedOp(method, given, () => activationFromV1(params)) ?? passThroughOp(method, given);
  }
}

/** Credentials are no custom data: handlers may keep that. */
function loginFromV1({ methodId, _meta }: wire.AuthenticateRequest): AgentOp {
  const credentials = _meta?.[credentialsKey];
  return {
    op: "login",
    methodId,
    ...optional({ credentials: isObject(credentials) ? credentials : undefined }),
    ...withMeta(without(_meta, credentialsKey)),
  };
}

/** Custom data without a key that means something. */
function without(meta: wire.Meta | null | undefined, key: string): wire.Meta | undefined {
  if (meta == null || !(key in meta)) return meta ?? undefined;
  const { [key]: _, ...rest } = meta;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

function byCategory(
  category: "mode" | "model",
  { sessionId, modeId }: { sessionId: string; modeId: string },
  options: readonly SessionConfigOption[],
): Extract<AgentOp, { op: "set_option" }> {
  const option = selectOf(options, category);
  if (option === undefined) throw RequestError.invalidParams(`this session has no ${category} to set`);
  return {
    op: "set_option",
    sessionId,
    configId: option.configId,
    value: modeId,
    valuePath: `/${category}Id`,
  };
}

function encode(method: string, result: AgentOpResult): object {
  switch (result.kind) {
    case "none":
      return withMeta(result._meta);
    case "options":
      // set_mode and set_model have empty results
      if (method !== "session/set_config_option") return withMeta(result._meta);
      return {
        configOptions: optionsToV1(result.options, { knowsBooleans: result.client.booleanOptions }),
        ...withMeta(result._meta),
      };
    case "page":
      return pageToWire(result.page);
    case "value": {
      const { missingInV1 = {} } = passThrough.get(method) ?? {};
      return Object.fromEntries(Object.entries(result.value).filter(([name]) => !(name in missingInV1)));
    }
    case "session": {
      const { sessionId, configOptions, _meta: meta } = result.setup;
      const { booleanOptions: knowsBooleans } = result.client;
      return optional({
        sessionId: methodTable.get(method)?.session === "opens" ? sessionId : undefined,
        modes: modesToV1(configOptions),
        // left the schema, and is still in use
        models: modelsToV1(configOptions),
        configOptions: configOptions.length === 0 ? undefined : optionsToV1(configOptions, { knowsBooleans }),
        _meta: meta,
      });
    }
  }
}

const stopReasons = new Set(["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]);

/** Version 1 has no stop reason for errors: those are answered as errors. */
function promptResult(outcome: PromptResult): wire.PromptResponse {
  const { stopReason, error, usage, _meta: meta } = outcome;
  if (stopReason === "error") {
    const { kind = "internal_error", code, message = "the turn failed", data } = error ?? {};
    throw new RequestError(kind, message, { code, data });
  }
  return {
    stopReason: stopReasons.has(stopReason) ? (stopReason as wire.StopReason) : "end_turn",
    ...optional({ usage }),
    ...withMeta(meta),
  };
}
