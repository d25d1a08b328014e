// The peers that are fuzzed: agents, clients and relays, in both versions.

import { type ClientConnection, client, type Files, type Terminals } from "@parley/acp";
import type { ProtocolVersion } from "@parley/acp/internal";
import { relay } from "@parley/acp/relay";
import { memoryPair, type Transport } from "@parley/acp/transport";
import { everyFeature } from "@parley/conformance";
import { scriptedAgent } from "@parley/conformance/testing";
import { noWaiting, type Side } from "./recordings.ts";

export interface Running {
  /** For a client: works like a user of it. Resolves when it has been answered. */
  use?(): Promise<void>;
  close(): Promise<void>;
}

export interface Subject {
  readonly name: string;
  /** The side that the fuzzer plays, and the version that it speaks. */
  readonly fuzzer: Side;
  readonly version: ProtocolVersion;
  start(transport: Transport): Running;
}

const limits = { maxNullIdErrorsPerSecond: 1_000_000, maxNoiseLines: 1_000_000 };

function startAgent(transport: Transport, version: ProtocolVersion) {
  const scenario = { ...everyFeature.agent, editions: [`v${version}`] as const, loginRequired: false };
  return scriptedAgent(scenario, { clock: noWaiting, connection: { limits } }).connect(transport);
}

const files: Files = {
  canRead: true,
  canWrite: true,
  readText: async (path) => (path.includes("missing") ? Promise.reject(new Error("not here")) : "a\nb\n"),
  writeText: async () => undefined,
};

const terminals: Terminals = {
  create: async ({ command }) => ({
    terminalId: `terminal of ${command.slice(0, 20)}`,
    output: async () => ({ output: "out\0put\n", truncated: false }),
    waitForExit: async () => ({ exitCode: 0 }),
    kill: async () => undefined,
    release: async () => undefined,
  }),
};

function startClient(transport: Transport, version: ProtocolVersion): Required<Running> {
  const connecting = client({
    name: "fuzzed",
    version: "1",
    editions: [`v${version}`],
    unstable: ["fork", "usage", "plans", "subagents"],
    files,
    terminals,
    requestPermission: ({ options }) => options[0]?.optionId,
    elicit: async () => ({ action: "decline" }),
    connection: { limits, handshakeTimeoutMs: 20_000 },
  }).connect(transport);
  const working = connecting.then(work);
  const settled = working.then(
    () => undefined,
    () => undefined,
  );
  return {
    async use() {
      const connection = await connecting;
      await working;
      await connection.request("_fuzz/ping", {});
    },
    async close() {
      await connecting.then((connection) => connection.close()).catch(() => undefined);
      await settled;
    },
  };
}

/** A session with an open prompt. The prompt may end in any way, but it must end. */
async function work(connection: ClientConnection): Promise<void> {
  if (connection.authMethods.length > 0) await connection.login("password").catch(() => undefined);
  const session = await connection.newSession({ cwd: "/project" }).catch(() => undefined);
  session?.prompt("messages").result.catch(() => undefined);
}

const versions = [1, 2] as const;

const pairs = versions.flatMap((clientVersion) =>
  versions.map((agentVersion) => [clientVersion, agentVersion] as const),
);

export const subjects: readonly Subject[] = [
  ...versions.map(
    (version): Subject => ({
      name: `agent() v${version}`,
      fuzzer: "client",
      version,
      start: (transport) => startAgent(transport, version),
    }),
  ),
  ...versions.map(
    (version): Subject => ({
      name: `client() v${version}`,
      fuzzer: "agent",
      version,
      start: (transport) => startClient(transport, version),
    }),
  ),
  ...pairs.flatMap(([clientVersion, agentVersion]): Subject[] => [
    {
      name: `relay() of a v${clientVersion} client that is fuzzed and a v${agentVersion} agent`,
      fuzzer: "client",
      version: clientVersion,
      start(transport) {
        const [toAgent, atAgent] = memoryPair();
        const served = startAgent(atAgent, agentVersion);
        const relayed = relay(transport, toAgent, { limits, unstable: "*" });
        return {
          async close() {
            await relayed.close();
            await served.closed;
          },
        };
      },
    },
    {
      name: `relay() of a v${clientVersion} client and a v${agentVersion} agent that is fuzzed`,
      fuzzer: "agent",
      version: agentVersion,
      start(transport) {
        const [atClient, toClient] = memoryPair();
        const relayed = relay(toClient, transport, { limits, unstable: "*" });
        const app = startClient(atClient, clientVersion);
        return {
          use: () => app.use(),
          async close() {
            await relayed.close();
            await app.close();
          },
        };
      },
    },
  ]),
];
