// The door of the wire: binds a method row to what a connection has switched on, then decodes what came and
// checks what goes. Lenient in, strict out. Runtime neutral; knows values, never messages or connections.

import { Failure, modes } from "../validation/failure.ts";
import type { MethodRow } from "./method-row.ts";

export { Failure, maxArrayItems, modes } from "../validation/failure.ts";
export type { Validator } from "./method-row.ts";

/** The unstable methods that an app asked for, by name, or all of them. */
export type UnstableMethods = "*" | readonly string[];

/** A method row with its modes worked out once per connection, so that no message pays for it. */
export interface BoundMethod {
  readonly row: MethodRow;
  /** False for an unstable method that the app did not list: answer -32601, and do not send it. */
  readonly enabled: boolean;
  readonly receiveParams: number;
  readonly receiveResult: number;
  readonly send: number;
}

/**
 * Listing a method switches on the method itself, and the unstable fields and tags of its params and result.
 * Listing any switches on those of `initialize` too, because that is where its capability is advertised.
 */
export function bindMethod(row: MethodRow, unstable: UnstableMethods = [], own = false): BoundMethod {
  const listed = unstable === "*" || unstable.includes(row.method);
  const advertises = row.method === "initialize" && unstable.length > 0;
  const base = modes.checks | (listed || advertises ? modes.unstable : 0);
  return {
    row,
    enabled: !row.unstable || listed,
    // An agent must refuse a prompt whose blocks it cannot read (N123); a client shows what it can (N122).
    receiveParams: row.receiver === "agent" ? base : base | modes.open,
    receiveResult: base | modes.open,
    send: base | modes.strict | (own ? modes.own : 0),
  };
}

/** The params as the protocol defines them, salvaged in place; or why they are refused. */
export function decodeParams(method: BoundMethod, value: unknown): unknown {
  const { row } = method;
  if (value === undefined || value === null) {
    if (row.paramsMayBeEmpty) return {};
    return new Failure("", "object", value === null ? "null" : "nothing");
  }
  return row.params(value, method.receiveParams) ?? value;
}

/** The result as the protocol defines it, salvaged in place; or why it is refused. */
export function decodeResult(method: BoundMethod, value: unknown): unknown {
  const { row } = method;
  if (value === null && row.resultMayBeEmpty) return {};
  return row.result?.(value, method.receiveResult) ?? value;
}

/** Params that are ready to send, `{}` where none were given and none are needed; or what is wrong with them. */
export function encodeParams(method: BoundMethod, value: unknown): unknown {
  if (value === undefined && method.row.paramsMayBeEmpty) return {};
  return method.row.params(value, method.send) ?? value;
}

/** A result that is ready to send, `{}` where a handler returned nothing and nothing is needed (J10). */
export function encodeResult(method: BoundMethod, value: unknown): unknown {
  if ((value === undefined || value === null) && method.row.resultMayBeEmpty) return {};
  return method.row.result?.(value, method.send) ?? value;
}

/** `session/new: params/mcpServers/0/env must be array, got string` */
export function describeFailure(method: string, where: "params" | "result", failure: Failure): string {
  return `${method}: ${where}${failure.path} must be ${failure.expected}, got ${failure.got}`;
}
