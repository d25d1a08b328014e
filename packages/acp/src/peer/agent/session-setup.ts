// Answers a request that opens a session: its options and its commands.

import type { AgentOpResult } from "../../edition/agent-edition.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { Meta } from "../../model/content.ts";
import type { ServedSession } from "./served-session.ts";

export function sessionSetup(
  session: ServedSession,
  request: IncomingRequest,
  place: Meta = {},
): AgentOpResult {
  const { edition, client } = session.updates.sender;
  const { sessionId, configOptions: options, availableCommands: commands } = session;
  session.announce();
  keepCurrent(session, request);
  if (!edition.setupHasCommands && commands.length > 0) {
    request.afterReply(() => {
      void session.updates.output.show({
        sessionUpdate: "available_commands_update",
        availableCommands: [...commands],
      });
    });
  }
  const meta = { ...session.resultMeta, ...place };
  const setup = {
    sessionId,
    configOptions: [...options],
    availableCommands: [...commands],
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
  };
  return { kind: "session", setup, client: client.capabilities };
}

/** Sends the options again that changed before the answer left: the client takes the answer for the newer list. */
export function keepCurrent(session: ServedSession, request: IncomingRequest): void {
  const answered = session.configOptions;
  request.afterReply(() => {
    const { configOptions: options } = session;
    if (options !== answered)
      void session.updates.output.show({
        sessionUpdate: "config_option_update",
        configOptions: [...options],
      });
  });
}
