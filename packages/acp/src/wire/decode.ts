// Decodes received params and results leniently, and checks those to send strictly.

import { Failure, modes } from "../validation/failure.ts";
import { featureBits } from "../validation/features.gen.ts";
import { featureMode, type UnstableFeatures } from "../validation/unstable-features.ts";
import type { MethodRow, WireVersion } from "./method-row.ts";

export { Failure, maxArrayItems, modes } from "../validation/failure.ts";
export type { Validator } from "./method-row.ts";

/** A method row with its validator modes, computed once per connection. */
export interface BoundMethod {
  readonly row: MethodRow;
  /** False for a method of a feature that the app has not enabled: answer -32601, and do not send it. */
  readonly enabled: boolean;
  readonly receiveParams: number;
  readonly receiveResult: number;
  readonly send: number;
}

/** Enabling a feature enables its methods, and its fields and variants in all others. */
export function bindMethod(
  row: MethodRow,
  unstable: UnstableFeatures = [],
  { ownValues, nulls, extras }: Pick<WireVersion, "ownValues" | "nulls" | "extras"> = {},
): BoundMethod {
  const features = featureMode(unstable);
  const base = modes.checks | features | (extras === "moved" ? modes.extras : 0);
  const receive = base | (nulls === "removed" ? modes.nulls : 0) | (extras === "received" ? modes.extras : 0);
  return {
    row,
    enabled: row.unstable === undefined || (features & featureBits[row.unstable]) !== 0,
    // an agent must refuse unknown content blocks (N123); a client shows what it can (N122)
    receiveParams: row.receiver === "agent" ? receive : receive | modes.open,
    receiveResult: receive | modes.open,
    send: base | modes.strict | (ownValues === "underscored" ? modes.own : 0),
  };
}

/** The params, repaired in place where the schema allows it; or a Failure. */
export function decodeParams(method: BoundMethod, value: unknown): unknown {
  const { row } = method;
  if (value === undefined || value === null) {
    if (row.paramsMayBeEmpty) return {};
    return new Failure("", "object", value === null ? "null" : "nothing");
  }
  return row.params(value, method.receiveParams) ?? value;
}

/** The result, repaired in place where the schema allows it; or a Failure. */
export function decodeResult(method: BoundMethod, value: unknown): unknown {
  const { row } = method;
  if (value === null && row.resultMayBeEmpty) return {};
  return row.result?.(value, method.receiveResult) ?? value;
}

/** The params to send, `{}` if none are given and all are optional; or a Failure. */
export function encodeParams(method: BoundMethod, value: unknown, mode = method.send): unknown {
  if (value === undefined && method.row.paramsMayBeEmpty) return {};
  return method.row.params(value, mode) ?? value;
}

/** The result to send, `{}` if a handler returned nothing and all fields are optional; or a Failure. */
export function encodeResult(method: BoundMethod, value: unknown): unknown {
  if ((value === undefined || value === null) && method.row.resultMayBeEmpty) return {};
  return method.row.result?.(value, method.send) ?? value;
}

/** `session/new: params/mcpServers/0/env must be array, got string` */
export function describeFailure(method: string, where: "params" | "result", failure: Failure): string {
  return `${method}: ${where}${failure.path} must be ${failure.expected}, got ${failure.got}`;
}

/** The session that params or a result name; undefined for none. */
export function sessionOf(params: unknown): string | undefined {
  const { sessionId } = (params ?? {}) as { readonly sessionId?: unknown }; // whatever it is, one field is looked for
  return typeof sessionId === "string" && sessionId !== "" ? sessionId : undefined;
}
