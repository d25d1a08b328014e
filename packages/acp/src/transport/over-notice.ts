// The last event of a connection over HTTP: the server has ended it, so that the client need not come back. docs/remote.md
// specifies it. A WebSocket has a close code for it.

import { isObject } from "../base/objects.ts";
import { closedMethod } from "../base/parley-extensions.ts";

export function overNotice(reason: string): string {
  return JSON.stringify({ jsonrpc: "2.0", method: closedMethod, params: { reason } });
}

/** Why the server has ended the connection; undefined for every other message. */
export function readOverNotice(value: unknown): string | undefined {
  if (!isObject(value) || value["method"] !== closedMethod || value["id"] !== undefined) return undefined;
  const { reason } = isObject(value["params"]) ? value["params"] : {};
  return typeof reason === "string" ? reason : "";
}
