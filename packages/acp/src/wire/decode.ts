// Decodes received params and results leniently, and checks those to send strictly.

import { Failure, modes } from "../validation/failure.ts";
import type { MethodRow } from "./method-row.ts";

export { Failure, maxArrayItems, modes } from "../validation/failure.ts";
export type { Validator } from "./method-row.ts";

/** The unstable methods that an app enables, by name, or all of them. */
export type UnstableMethods = "*" | readonly string[];

/** A method row with its validator modes, computed once per connection. */
export interface BoundMethod {
  readonly row: MethodRow;
  /** False for an unstable method that the app has not enabled: answer "method_not_found", and do not send it. */
  readonly enabled: boolean;
  readonly receiveParams: number;
  readonly receiveResult: number;
  readonly send: number;
}

/**
 * Enabling a method also enables the unstable fields and tags of its params and result, and those of `initialize`,
 * which advertises its capability.
 */
export function bindMethod(row: MethodRow, unstable: UnstableMethods = [], own = false): BoundMethod {
  const listed = unstable === "*" || unstable.includes(row.method);
  const advertises = row.method === "initialize" && unstable.length > 0;
  const base = modes.checks | (listed || advertises ? modes.unstable : 0);
  return {
    row,
    enabled: !row.unstable || listed,
    // an agent must refuse unknown content blocks (N123); a client shows what it can (N122)
    receiveParams: row.receiver === "agent" ? base : base | modes.open,
    receiveResult: base | modes.open,
    send: base | modes.strict | (own ? modes.own : 0),
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
export function encodeParams(method: BoundMethod, value: unknown): unknown {
  if (value === undefined && method.row.paramsMayBeEmpty) return {};
  return method.row.params(value, method.send) ?? value;
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
