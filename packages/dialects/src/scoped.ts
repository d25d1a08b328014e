// The dialect scoped as agents and clients name it. Its machines are loaded by the connections that speak it.

import {
  createDirectoriesKey,
  credentialsKey,
  encodingKey,
  overwriteKey,
  sessionOptionsKey,
  signalKey,
  storedCwdKey,
  terminalOutputMethod,
  timeoutKey,
  valueKey,
} from "@parley/acp/extensions";
import type { Dialect } from "@parley/acp/transport";

/**
 * The dialect with permissions by operation, resource and scope: version 1 with other shapes.
 *
 * @returns The dialect, for the `editions` of an agent or a client.
 * @example
 * import { client } from "@parley/acp";
 * import { spawnTransport } from "@parley/acp/node";
 * import { scoped } from "@parley/dialects";
 *
 * const app = client({ name: "my-client", version: "1.0.0", editions: [scoped(), "v1"] });
 * await using connection = await app.connect(spawnTransport("my-agent"));
 * console.log(connection.edition);
 */
export function scoped(): Dialect {
  return dialect;
}

const dialect: Dialect = {
  name: "scoped",
  understands: [
    credentialsKey,
    sessionOptionsKey,
    storedCwdKey,
    valueKey,
    timeoutKey,
    signalKey,
    encodingKey,
    overwriteKey,
    createDirectoriesKey,
    terminalOutputMethod,
    // of its section 17.2
    "_mcp/request",
  ],
  // its requests for files and terminals do not name their session
  oneSessionPerConnection: true,
  isSpokenByClient: ({ protocolVersion, capabilities, clientCapabilities, info }) =>
    protocolVersion === 1 &&
    typeof capabilities === "object" &&
    clientCapabilities === undefined &&
    info === undefined,
  isSpokenByAgent: ({ protocolVersion, capabilities, requiredClientCapabilities, agentCapabilities, info }) =>
    protocolVersion === 1 &&
    (capabilities !== undefined || requiredClientCapabilities !== undefined) &&
    agentCapabilities === undefined &&
    info === undefined,
  load: async () => (await import("./scoped/machines.ts")).scopedMachines,
};
