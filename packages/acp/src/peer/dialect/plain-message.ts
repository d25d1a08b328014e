// Takes out of a message what a peer of version 1 or 2 must not get, and reports what it cannot read.

import { isObject } from "../../base/objects.ts";
import type { Lost } from "../../edition/agent-edition.ts";
import type { DialectMessage } from "../../edition/dialect.ts";
import { credentialsKey, detailsKey, signalKey, timeoutKey } from "../../edition/dialect-keys.ts";

/** What is lost, in words for a person, by the key that carries it between dialects. */
const losses: Readonly<Record<string, string>> = {
  [credentialsKey]: "the credentials of a login: the agent must get them another way",
  [timeoutKey]: "the time limit of a command",
  [signalKey]: "the signal that ends a command",
  [detailsKey]: "details that only the dialect has; they are in _meta",
};

export function plainMessage(message: DialectMessage, lost: Lost): DialectMessage {
  const { params } = message;
  if (!isObject(params) || !isObject(params["_meta"])) return message;
  for (const [key, what] of Object.entries(losses)) if (key in params["_meta"]) lost(what);
  if (!(credentialsKey in params["_meta"])) return message;
  const { [credentialsKey]: _, ...rest } = params["_meta"];
  return { ...message, params: { ...params, _meta: rest } };
}
