// The agent behind an agent in a chain, reached as a client reaches an agent.

import { isObject } from "../../base/objects.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { Successor, SuccessorFront, SuccessorSession } from "../../model/successor.ts";
import type { PromptResult } from "../../model/update.ts";
import { client } from "../client/client.ts";
import type { ClientConnection } from "../client/client-connection.ts";
import type { ClientSession } from "../client/session/client-session.ts";

/** A session of the agent behind, and the connection that has it. */
interface Behind {
  readonly agent: ClientConnection;
  readonly opening: Promise<ClientSession>;
}

export interface SuccessorClient extends Successor {
  /** Call it when a session of the agent in front has ended. Closes the session of the agent behind. */
  ended(sessionId: string): void;
  close(): Promise<void>;
}

/** Starts the agent behind with the first prompt, and again with the first prompt after it has ended. */
export function successorClient(name: string, start: () => Transport, log: Log): SuccessorClient {
  const fronts = new Map<string, SuccessorFront>();
  const sessions = new Map<string, Behind>();
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
    if (connecting !== undefined) return connecting;
    const attempt = app.connect(start());
    const over = (): void => {
      if (connecting === attempt) connecting = undefined;
    };
    connecting = attempt;
    attempt.then(({ closed }) => closed).then(over, over);
    return attempt;
  };
  const forget = (sessionId: string, { opening }: Behind): void => {
    if (sessions.get(sessionId)?.opening === opening) sessions.delete(sessionId);
  };
  const opened = async ({ sessionId, cwd, roots, mcpServers }: SuccessorSession): Promise<Behind> => {
    const agent = await connected();
    const known = sessions.get(sessionId);
    // a later connection does not know the session
    if (known?.agent === agent) return known;
    const opening = agent.newSession({
      cwd,
      ...(agent.capabilities.additionalDirectories && { additionalDirectories: roots.slice(1) }),
      mcpServers: [...mcpServers],
    });
    const behind = { agent, opening };
    sessions.set(sessionId, behind);
    opening.catch(() => forget(sessionId, behind));
    return behind;
  };
  return {
    async prompt(session, content, front) {
      const found = await opened(session);
      const behind = await found.opening;
      fronts.set(behind.sessionId, front);
      const stop = behind.onUpdate((update) => front.update(update));
      try {
        const result = await behind.prompt([...content], { signal: front.signal });
        if (isLost(result)) forget(session.sessionId, found);
        return result;
      } finally {
        stop();
        fronts.delete(behind.sessionId);
      }
    },
    ended(sessionId) {
      const behind = sessions.get(sessionId);
      sessions.delete(sessionId);
      void behind?.opening
        .then((session) => session.close())
        .catch((error: unknown) =>
          log("debug", "the session of the agent behind was not closed", { sessionId, error }),
        );
    },
    close: async () => (await connecting?.catch(() => undefined))?.close(),
  };
}

/** Whether the agent behind was started again and cannot continue the session. */
function isLost({ error }: PromptResult): boolean {
  if (error?.kind === "session_not_found") return true;
  return isObject(error?.data) && error.data["reason"] === "session_lost";
}
