// Hosts a stdio agent: one process for each client.
//
// A process is bound to its principal and to its `initialize`. It serves one connection at a time, and changes hands as
// a whole:
// - A request that continues a session (load, resume, close, delete) finds the process that has it. None: the own one.
// - Its client is there: -32066, unless the request takes it over. Another principal's: as unknown as no session.
// - Its client is away, or it is taken over, and the new connection began with the same `initialize` and has no sessions
//   yet: the process goes on with the new connection. Ids are replaced from then on, what was asked of the old client is
//   asked again when its session is taken up, and sessions that are not taken up are silent.
// - Otherwise it is ended, and gone, before the process of the new connection is asked.
// All of this is decided in one turn of the event loop, so that of two connections one comes first.
// - A client that is away keeps its process: for a minute without a session, and with one until its place is needed.
// - A connection that began like a process which waits is answered as that one was; its own is started only when it is needed.

import type { Log, Transport } from "@parley/acp";
import { checkOptions, optional } from "@parley/acp/jsonrpc";
import type { OpenedConnection, ServingPeer } from "@parley/acp/server";
import { HostedClient, type Hosting } from "./hosted-client.ts";
import { HostedProcess, type StartedAgent } from "./hosted-process.ts";
import { withOwnFiles } from "./own-files.ts";
import { safeMessages } from "./safe-messages.ts";

/** Between the requests of a client over HTTP there is none for a moment. It is not away then. */
const gapMs = 2_000;
const roomWords = "the client was away, and its place was given to another one; sessions can be loaded";

/** The options of `hostAgent`. */
export interface HostAgentOptions {
  /** Starts a process. Called for a connection that has none, when it needs one. */
  readonly start: (opened: OpenedConnection) => Promise<StartedAgent>;
  /**
   * Processes at a time. Default 100. A further connection gets the place of the client that has been away for the longest
   * time, if it has no running turn. Otherwise the connection is refused.
   */
  readonly maxProcesses?: number | undefined;
  /** Whether clients may name MCP servers that are commands of this machine. Default false. */
  readonly allowCommands?: boolean | undefined;
  /**
   * Whether the agent may use the files and terminals that a client offers, which are on the client's machine. Default false:
   * it works with those of this machine only.
   */
  readonly useClientFiles?: boolean | undefined;
  /** Receives what happens to the processes. */
  readonly log?: Log | undefined;
}

/** A hosted agent. */
export interface HostedAgent {
  /** For `connect` of a gateway or a remote server. */
  connect(transport: Transport, opened: OpenedConnection): ServingPeer;
  /** How many processes have open requests or turns. */
  readonly busy: number;
  /** Resolves when no request of a client is open any more, or after this many milliseconds. */
  idle(timeoutMs: number): Promise<void>;
  /** Resolves when the processes of now have ended. Call it after the gateway was closed. */
  ended(): Promise<void>;
}

/**
 * Hosts an agent that speaks on stdin and stdout: one process for each client. It is kept while the client is cut off,
 * and ends with the connection. A client that continues a session of one that is away goes on with its process if both
 * sent the same `initialize`; otherwise that process is gone before another one gets the session. A session that a client
 * has open is refused, unless the request takes it over.
 *
 * @param options How a process is started, and limits.
 * @example
 * import { spawnTransport } from "@parley/acp/node";
 * import { hostAgent, startGateway } from "@parley/gateway";
 *
 * const hosted = hostAgent({ start: async () => ({ transport: spawnTransport("my-agent", ["--acp"]) }) });
 * const gateway = await startGateway({ connect: hosted.connect });
 * console.log(gateway.url);
 * await gateway.close();
 */
export function hostAgent(options: HostAgentOptions): HostedAgent {
  checkOptions("hostAgent", options, hostKeys);
  const { maxProcesses = 100, allowCommands = false, log = () => undefined } = options;
  const start = async (opened: OpenedConnection): Promise<StartedAgent> => {
    const { transport, pid, gone } = await options.start(opened);
    return { transport: options.useClientFiles ? transport : withOwnFiles(transport), pid, gone };
  };
  const processes = new Set<HostedProcess>();
  /** Those that end to make room. Their places are given already. */
  const leaving = new Set<HostedProcess>();
  /** The process whose client has been away for the longest time, and whose place a new client gets. */
  const expendable = (): HostedProcess | undefined =>
    [...processes]
      .filter((each) => each.isOpen && each.absentMs > gapMs && each.sessions.withTurns.size === 0)
      .sort((one, other) => other.absentMs - one.absentMs)[0];
  /** The process that has to end before another one starts, if one has to. */
  const inTheWay = (): HostedProcess | undefined => {
    if (processes.size - leaving.size < maxProcesses) return undefined;
    const oldest = expendable();
    if (oldest === undefined) throw new Error(`already ${maxProcesses} agents run here; try again later`);
    leaving.add(oldest);
    return oldest;
  };
  const busy = () => [...processes].filter(({ sessions }) => sessions.isBusy).length;
  return {
    connect(transport, opened) {
      const { connectionId, principal } = opened;
      const hosting: Hosting = {
        processes,
        log,
        start(client, initialize, isLater) {
          const before = inTheWay();
          const hosted: HostedProcess = new HostedProcess(client, {
            principal,
            initialize,
            isLater,
            start: async () => {
              await before?.close(roomWords);
              return start(opened);
            },
            log,
            over() {
              processes.delete(hosted);
              leaving.delete(hosted);
            },
          });
          processes.add(hosted);
          return hosted;
        },
      };
      return new HostedClient(safeMessages(transport, allowCommands), hosting, {
        connectionId,
        ...optional({ principal }),
      });
    },
    get busy() {
      return busy();
    },
    async idle(timeoutMs) {
      const end = performance.now() + timeoutMs;
      // it happens once, at the end of a server
      while (busy() > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
    },
    async ended() {
      await Promise.all([...processes].map(({ closed }) => closed));
    },
  };
}

const hostKeys: Readonly<Record<keyof HostAgentOptions, true>> = {
  start: true,
  maxProcesses: true,
  allowCommands: true,
  useClientFiles: true,
  log: true,
};
