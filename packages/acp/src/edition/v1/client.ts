// The client's side of version 1.

import { isObject } from "../../base/objects.ts";
import { credentialsKey, valueKey } from "../../base/parley-extensions.ts";
import type { Implementation, SessionConfigOption } from "../../model/content.ts";
import { isJsonOption, type JsonValue } from "../../model/custom-types.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { AgentIntroduction, WireCall } from "../agent-edition.ts";
import { agentPlaces, fromWire } from "../capabilities.ts";
import { partsMetaFromV1 } from "../capability-meta.ts";
import type { ClientEdition } from "../client-edition.ts";
import { steeringKey } from "../vendor-extensions.ts";
import { elicitationFromWire, metaOf, withMeta } from "../wire-fields.ts";
import { activationToV1, authMethodFromV1 } from "./activation.ts";
import { V1ClientSession, type V1State, v1StateShape } from "./client-session.ts";
import { modeConfigId, modelConfigId, optionsFromResult, optionsFromV1 } from "./config-options.ts";
import { permissionFromV1 } from "./permission.ts";
import { service } from "./service.ts";

export { methods } from "./methods.ts";

export const v1ClientEdition: ClientEdition = {
  name: "v1",
  pipelinesPrompts: false,
  agent,
  login: (methodId, meta, credentials) => ({
    method: "authenticate",
    params: {
      methodId,
      ...withMeta(credentials === undefined ? meta : { ...meta, [credentialsKey]: credentials }),
    },
  }),
  logout: (meta) => ({ method: "logout", params: withMeta(meta) }),
  open: (activation) => ({ method: "session/new", params: activationToV1(activation) }),
  activate: (sessionId, activation, replay) => ({
    method: replay ? "session/load" : "session/resume",
    params: { sessionId, ...activationToV1(activation) },
  }),
  setup: (result, sessionId) => ({
    sessionId: (result as { sessionId?: string }).sessionId ?? sessionId ?? "",
    configOptions: optionsFromResult(result),
    availableCommands: [],
    ...metaOf(result),
  }),
  setOption,
  optionsAfter: (method, result) =>
    method === "session/set_config_option"
      ? optionsFromV1((result as wire.SetSessionConfigOptionResponse).configOptions)
      : undefined,
  // as: checked by its shape
  session: (unstable, names, state) => new V1ClientSession(unstable, names, state as V1State | undefined),
  stateShape: v1StateShape,
  permission(params, titleOf) {
    const request = params as wire.RequestPermissionRequest;
    const { sessionId, toolCall } = request;
    return { sessionId, ask: permissionFromV1(request, titleOf(sessionId, toolCall.toolCallId)) };
  },
  elicitation: elicitationFromWire,
  service,
  repair: () => undefined,
};

function agent(result: object): AgentIntroduction {
  const { agentInfo, agentCapabilities: can = {}, authMethods = [] } = result as wire.InitializeResponse;
  return {
    info: (agentInfo ?? undefined) as Implementation | undefined, // validated by the method's row
    capabilities: {
      ...fromWire(agentPlaces, 1, can),
      steer: takesSteering(result),
      ...metaOf(can),
      ...partsMetaFromV1(can),
    },
    authMethods: authMethods.map(authMethodFromV1),
    ...metaOf(result),
  };
}

function takesSteering(result: object): boolean {
  const steering = (result as wire.InitializeResponse)._meta?.[steeringKey];
  return isObject(steering) && steering["supported"] === true;
}

/** Options that stand for modes and models are set the way version 1 sets those. */
function setOption(
  sessionId: string,
  option: SessionConfigOption,
  value: JsonValue,
  meta: wire.Meta | undefined,
): WireCall {
  const common = { sessionId, ...withMeta(meta) };
  if (option.configId === modeConfigId) {
    return { method: "session/set_mode", params: { ...common, modeId: String(value) } };
  }
  if (option.configId === modelConfigId) {
    return { method: "session/set_model", params: { ...common, modelId: String(value) } };
  }
  if (isJsonOption(option)) {
    const _meta = { ...meta, [valueKey]: value };
    const params = { sessionId, configId: option.configId, value: JSON.stringify(value), _meta };
    return { method: "session/set_config_option", params };
  }
  const type = typeof value === "boolean" ? { type: "boolean" } : {};
  return {
    method: "session/set_config_option",
    params: { ...common, configId: option.configId, ...type, value },
  };
}
