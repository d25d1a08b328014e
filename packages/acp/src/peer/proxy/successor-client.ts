// The agent behind an agent in a chain, reached as a client reaches an agent.

import type { Log } from "../../jsonrpc/connection-options.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { Successor, SuccessorFront, SuccessorSession } from "../../model/successor.ts";
import { client } from "../client/client.ts";
import type { ClientConnection } from "../client/client-connection.ts";
import type { ClientSession } from "../client/session/client-session.ts";

/** Starts the agent behind with the first prompt. */
export function successorClient(
  name: string,
  start: () => Transport,
  log: Log,
): Successor & { close(): Promise<void> } {
  const fronts = new Map<string, SuccessorFront>();
  const sessions = new WeakMap<SuccessorSession, Promise<ClientSession>>();
  const app = client({
    name,
    version: "1",
    log,
    unstable: "*",
    async requestPermission(ask, { session }) {
      const front = session && fronts.get(session.sessionId);
      const outcome = await front?.permission(ask);
      return outcome?.outcome === "selected" ? outcome.optionId : undefined;
    },
    elicit: async (ask, { session }) =>
      (session && (await fronts.get(session.sessionId)?.elicit(ask))) ?? { action: "cancel" },
  });
  let connecting: Promise<ClientConnection> | undefined;
  const connected = (): Promise<ClientConnection> => {
    connecting ??= app.connect(start()).then((connection) => {
      // the next prompt starts it again
      void connection.closed.then(() => {
        connecting = undefined;
      });
      return connection;
    });
    connecting.catch(() => {
      connecting = undefined;
    });
    return connecting;
  };
  const opened = async (session: SuccessorSession): Promise<ClientSession> => {
    const known = sessions.get(session);
    if (known !== undefined && connecting !== undefined) return known;
    const { cwd, roots, mcpServers } = session;
    const agent = await connected();
    const opening = agent.newSession({
      cwd,
      ...(agent.capabilities.additionalDirectories && { additionalDirectories: roots.slice(1) }),
      mcpServers: [...mcpServers],
    });
    sessions.set(session, opening);
    return opening;
  };
  return {
    async prompt(session, content, front) {
      const behind = await opened(session);
      fronts.set(behind.sessionId, front);
      const stop = behind.onUpdate((update) => front.update(update));
      try {
        return await behind.prompt([...content], { signal: front.signal });
      } finally {
        stop();
        fronts.delete(behind.sessionId);
      }
    },
    close: async () => (await connecting?.catch(() => undefined))?.close(),
  };
}
