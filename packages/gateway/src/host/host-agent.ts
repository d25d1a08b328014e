// Hosts a stdio agent: one process for each connection.

import type { Log, Transport } from "@parley/acp";
import type { OpenedConnection, ServingPeer } from "@parley/acp/server";
import { HostedProcess, type StartedAgent } from "./hosted-process.ts";
import { safeMessages } from "./safe-messages.ts";

/** The options of `hostAgent`. */
export interface HostAgentOptions {
  /** Starts a process. Called once for each connection. */
  readonly start: (opened: OpenedConnection) => Promise<StartedAgent>;
  /** Processes at a time; further connections are refused. Default 100. */
  readonly maxProcesses?: number | undefined;
  /** Whether clients may name MCP servers that are commands of this machine. Default false. */
  readonly allowsCommands?: boolean | undefined;
  /** Receives what happens to the processes. */
  readonly log?: Log | undefined;
}

/** A hosted agent. */
export interface HostedAgent {
  /** For `connect` of a gateway or a remote server. */
  connect(transport: Transport, opened: OpenedConnection): ServingPeer;
  /** Resolves when no request of a client is open any more, or after this many milliseconds. */
  idle(timeoutMs: number): Promise<void>;
  /** Resolves when the processes of now have ended. Call it after the gateway was closed. */
  ended(): Promise<void>;
}

/**
 * Hosts an agent that speaks on stdin and stdout: one process for each connection. It is kept while the client is cut
 * off, and ends with the connection. A session is never in two processes: one that continues it ends the process of a
 * client that is away, and is refused while another client has it.
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
  const { start, maxProcesses = 100, allowsCommands = false, log = () => undefined } = options;
  const processes = new Set<HostedProcess>();
  const holders = (sessionId: string, own: HostedProcess) =>
    [...processes].filter((each) => each !== own && each.sessions.ids.has(sessionId));
  return {
    connect(transport, opened) {
      if (processes.size >= maxProcesses) throw new Error(`already ${maxProcesses} agents run here`);
      const { connectionId } = opened;
      const hosted: HostedProcess = new HostedProcess(safeMessages(transport, allowsCommands), {
        connectionId,
        start: () => start(opened),
        log,
        isHeld: (sessionId) => holders(sessionId, hosted).some((each) => each.isAttached),
        async free(sessionId) {
          for (const holder of holders(sessionId, hosted)) {
            holder.taken(sessionId);
            await holder.close("another client has taken the session over");
          }
        },
        over: () => processes.delete(hosted),
      });
      processes.add(hosted);
      return hosted;
    },
    async idle(timeoutMs) {
      const end = performance.now() + timeoutMs;
      const isBusy = () => [...processes].some(({ sessions }) => sessions.isBusy);
      // it happens once, at the end of a server
      while (isBusy() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
    },
    async ended() {
      await Promise.all([...processes].map(({ closed }) => closed));
    },
  };
}
