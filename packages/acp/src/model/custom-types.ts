// Custom types of the model, for what not every edition can say: options of any JSON type, and permission for an operation.

import type {
  Meta,
  PermissionSubject,
  SessionConfigOption,
  SessionConfigOptionCategory,
} from "./types.gen.ts";

/** Any JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/**
 * An option whose value is any JSON value: a custom type of `SessionConfigOption`. v2 and the dialects have it. Clients of v1
 * see a choice with one value, the JSON text, and can set it by `_meta` only.
 */
export type JsonConfigOption = {
  readonly type: "_json";
  readonly configId: string;
  readonly name: string;
  readonly description?: string;
  readonly category?: SessionConfigOptionCategory;
  /** The value that it has now. */
  readonly currentValue: JsonValue;
  readonly _meta?: Meta;
};

/**
 * An operation on a resource that needs permission: a custom type of `PermissionSubject`. Agents of some dialects ask
 * so. Clients of v1 are asked about a tool call that stands for it.
 */
export type OperationPermissionSubject = {
  readonly type: "_operation";
  /**
   * "file_read", "file_write", "file_delete", "terminal_execute", "network_access", "mcp_tool", or another word of the agent.
   */
  readonly operation: string;
  /** What it is done to: a path, a command line, an address or the name of a tool. */
  readonly resource: string;
  /** Why the agent wants it, in its own words. */
  readonly reason?: string;
  /** The tool call that it belongs to. */
  readonly toolCallId?: string;
  readonly _meta?: Meta;
};

export function isJsonOption(
  option: SessionConfigOption | undefined,
): option is JsonConfigOption & SessionConfigOption {
  return option?.type === "_json";
}

/** The value that an option has; undefined for a type that is not known. */
export function optionValue(option: SessionConfigOption | undefined): JsonValue | undefined {
  const isKnown = option?.type === "select" || option?.type === "boolean";
  return isKnown || isJsonOption(option) ? option.currentValue : undefined;
}

/** The operation that is asked about; undefined for other subjects, and for one without its two words. */
export function operationSubject(
  subject: PermissionSubject | undefined,
): OperationPermissionSubject | undefined {
  if (subject?.type !== "_operation") return undefined;
  const { operation, resource, reason, toolCallId, _meta } = subject as Partial<OperationPermissionSubject>; // checked below
  if (typeof operation !== "string" || typeof resource !== "string") return undefined;
  return {
    type: "_operation",
    operation,
    resource,
    ...(typeof reason === "string" ? { reason } : {}),
    ...(typeof toolCallId === "string" ? { toolCallId } : {}),
    ...(_meta == null ? {} : { _meta }),
  };
}
