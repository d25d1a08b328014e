// Checks the definition of a client when it is created.

import { checkDefinition, type Keys, sharedKeys } from "../base/definition-rules.ts";
import type { ClientDefinition } from "./client-definition.ts";

const clientKeys: Keys<ClientDefinition> = {
  ...sharedKeys,
  permission: true,
  elicit: true,
  elicitationCompleted: true,
  elicitationModes: true,
  files: true,
  terminals: true,
  terminalAuth: true,
  strict: true,
  handshakeTimeoutMs: true,
  otherRequest: true,
  otherNotification: true,
  noise: true,
  maxUnreadUpdates: true,
  maxUnreadChars: true,
};

/** Throws a TypeError for a definition that could not be served. */
export function checkClientDefinition(definition: ClientDefinition): void {
  checkDefinition("client", definition, clientKeys);
  if (definition.versions?.length === 0)
    throw new TypeError("client: versions is an empty list; leave it out, or name the versions to speak");
}
