// Recognises messages of the dialect by their keys. Loaded without the dialect, so it imports nothing of it.

import { isObject } from "../../base/objects.ts";

/** Whether the params of `initialize` are of this dialect: `capabilities`, and nothing of the other editions. */
export function isScopedInitialize(params: unknown): boolean {
  if (!isObject(params) || !isObject(params["capabilities"])) return false;
  if (params["clientCapabilities"] !== undefined || params["info"] !== undefined) return false;
  const version = params["protocolVersion"];
  return typeof version !== "number" || version < 2;
}

/** Whether the result of `initialize` is of this dialect. */
export function isScopedIntroduction(result: unknown): boolean {
  if (!isObject(result) || result["info"] !== undefined || result["agentCapabilities"] !== undefined)
    return false;
  const version = result["protocolVersion"];
  if (typeof version === "number" && version >= 2) return false;
  return isObject(result["capabilities"]) || isObject(result["requiredClientCapabilities"]);
}

/** Whether the params of `session/update` are of this dialect. */
export function isScopedUpdate(params: unknown): boolean {
  return (
    isObject(params) &&
    typeof params["type"] === "string" &&
    isObject(params["data"]) &&
    params["update"] === undefined
  );
}
