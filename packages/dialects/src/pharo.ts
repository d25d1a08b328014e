// The dialect pharo as agents and clients name it. Its machines are loaded by the connections that speak it.

import {
  credentialsKey,
  encodingKey,
  overwriteKey,
  sessionOptionsKey,
  signalKey,
  storedCwdKey,
  timeoutKey,
  valueKey,
} from "@parley/acp/extensions";
import type { Dialect } from "@parley/acp/transport";

type Fields = Readonly<Record<string, unknown>>;

/**
 * The dialect of the client for Pharo: version 1 with other names and shapes.
 *
 * @returns The dialect, for the `editions` of an agent or a client.
 * @example
 * import { agent } from "@parley/acp";
 * import { stdioTransport } from "@parley/acp/node";
 * import { pharo } from "@parley/dialects";
 *
 * agent({
 *   name: "my-agent",
 *   version: "1.0.0",
 *   editions: ["v2", "v1", pharo()],
 *   prompt: (turn) => turn.say("Hello!"),
 * }).connect(stdioTransport());
 */
export function pharo(): Dialect {
  return dialect;
}

const dialect: Dialect = {
  name: "pharo",
  understands: [
    credentialsKey,
    sessionOptionsKey,
    storedCwdKey,
    valueKey,
    timeoutKey,
    signalKey,
    encodingKey,
    overwriteKey,
  ],
  listsNoOptions: true,
  isSpokenByClient({ clientCapabilities, info, protocolVersion }) {
    const { terminal } = object(clientCapabilities);
    if (Object.keys(object(terminal)).length > 0) return true;
    // one flag for all of a client's terminals is of version 1; without any it may be either
    const isOther = info !== undefined || typeof terminal === "boolean";
    return isOther || (typeof protocolVersion === "number" && protocolVersion >= 2) ? false : "perhaps";
  },
  isSpokenByAgent({ agentCapabilities, authenticationMethods }) {
    const { sessionModes, mcpCapabilities } = object(agentCapabilities);
    const { supportedTransports } = object(mcpCapabilities);
    return [authenticationMethods, sessionModes, supportedTransports].some((each) => each !== undefined);
  },
  load: async () => (await import("./pharo/machines.ts")).pharoMachines,
};

function object(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
