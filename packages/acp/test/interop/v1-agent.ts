// The agent of the v1 tests, for either library: it reports in `_meta` what it received, for the client to compare.

import type {
  AgentNotifications,
  AgentRequests,
  ClientNotifications,
  ClientRequests,
  SessionUpdate,
} from "@parley/acp/v1";
import {
  extensionScript,
  mcpMessage,
  unstableRequests,
  useExtensions,
  type Waiting,
} from "./shared-agent.ts";
import * as sample from "./v1-samples.ts";
import { outcomeOf, type Script, type Sender, untilCancelled, type Wire } from "./wire-script.ts";

export type V1ClientSender = Sender<ClientRequests, ClientNotifications>;
type V1AgentScript = Script<AgentRequests, AgentNotifications>;

const { sessionId } = sample;

/** What the agent does in a turn, by the name that the prompt's `_meta.turn` gives. */
function turnsOf(wire: Wire<V1ClientSender>, waiting: Waiting): Record<string, () => Promise<unknown>> {
  const { peer } = wire;
  const say = (update: SessionUpdate) => peer().notify("session/update", { sessionId, update });
  const ask = (title: string, options = sample.permissionOptions, signal?: AbortSignal) =>
    peer().request(
      "session/request_permission",
      { sessionId, toolCall: { ...sample.toolCall, title }, options },
      signal === undefined ? {} : { signal },
    );
  return {
    "every update": async () => {
      for (const update of sample.updates) await say(update);
    },
    "every unstable update": async () => {
      for (const update of sample.unstableUpdates) await say(update);
    },
    // only a library that does not check what it sends gets these out
    "bad updates": async () => {
      for (const update of sample.badUpdates) await say(update);
    },
    "20 updates": async () => {
      for (let index = 0; index < 20; index += 1) {
        // not awaited on purpose: the response must be right behind the last update
        void say({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: String(index) } });
      }
    },
    "update and ask": async () => {
      void say(sample.updates[0] as SessionUpdate);
      return ask("overtaking");
    },
    "ask twice": async () => [await ask("first"), await ask("second", [])],
    "ask and give up": async () => {
      const giveUp = new AbortController();
      const answer = ask("hang", sample.permissionOptions, giveUp.signal);
      waiting.asked = () => giveUp.abort();
      return outcomeOf(answer);
    },
    "use files": async () => [
      await peer().request("fs/read_text_file", {
        sessionId,
        path: "/project/a.ts",
        line: 2,
        limit: 3,
        _meta: sample.meta,
      }),
      await peer().request("fs/write_text_file", {
        sessionId,
        path: "/project/b.ts",
        content: sample.trickyText,
      }),
      await outcomeOf(peer().request("fs/read_text_file", { sessionId, path: "/project/missing" })),
    ],
    "use a terminal": async () => {
      const created = await peer().request("terminal/create", sample.terminal);
      const which = { sessionId, terminalId: created.terminalId };
      return [
        created,
        await peer().request("terminal/output", which),
        await peer().request("terminal/kill", which),
        await peer().request("terminal/wait_for_exit", which),
        await peer().request("terminal/release", which),
      ];
    },
    elicit: async () => {
      const answers = [
        await peer().request("elicitation/create", sample.elicitationForm),
        await peer().request("elicitation/create", sample.elicitationUrl),
      ];
      await peer().notify("elicitation/complete", { elicitationId: "e1", _meta: sample.meta });
      return answers;
    },
    "use extensions": () => useExtensions(wire),
    "use MCP": () => peer().request("mcp/message", mcpMessage),
  };
}

export function v1Agent(wire: Wire<V1ClientSender>): V1AgentScript {
  const { peer } = wire;
  const waiting: Waiting = { asked: () => undefined, cancelled: () => undefined };
  const extensions = extensionScript(wire, waiting);
  const turns = turnsOf(wire, waiting);
  return {
    requests: {
      initialize: (saw) => ({ ...sample.initializeResponse, _meta: { saw } }),
      authenticate: (saw) => ({ _meta: { saw } }),
      logout: (saw) => ({ _meta: { saw } }),
      "session/new": (saw) => ({ ...sample.newSessionResponse, _meta: { saw } }),
      "session/load": async (saw) => {
        for (const update of sample.replay) await peer().notify("session/update", { sessionId, update });
        return { modes: sample.newSessionResponse.modes ?? null, _meta: { saw } };
      },
      "session/resume": (saw) => ({ configOptions: sample.configOptions, _meta: { saw } }),
      "session/list": (saw) => {
        const session = {
          sessionId: saw.cursor ?? "first",
          cwd: sample.cwd,
          title: "T",
          updatedAt: sample.time,
        };
        const nextCursor = saw.cursor ? {} : { nextCursor: "second" };
        return { sessions: [session], ...nextCursor, _meta: { saw } };
      },
      "session/close": (saw) => ({ _meta: { saw } }),
      "session/delete": (saw) => ({ _meta: { saw } }),
      "session/set_mode": (saw) => ({ _meta: { saw } }),
      "session/set_config_option": (saw) => ({ configOptions: sample.configOptions, _meta: { saw } }),
      "session/prompt": async (saw) => {
        const turn = saw._meta?.["turn"];
        if (turn === "until cancelled") {
          const cancelled = new Promise<void>((resolve) => {
            waiting.cancelled = resolve;
          });
          await peer().notifyExtension("_parley.test/note", { waiting: "session/cancel" });
          await cancelled;
          await peer().notify("session/update", { sessionId, update: sample.updates[0] as SessionUpdate });
          return { stopReason: "cancelled" };
        }
        if (typeof turn === "string") {
          return { stopReason: "end_turn", _meta: { answers: await turns[turn]?.() } };
        }
        for (const content of saw.prompt) {
          const update = { sessionUpdate: "agent_message_chunk" as const, content };
          await peer().notify("session/update", { sessionId, update });
        }
        return { stopReason: "max_tokens", _meta: { saw } };
      },
      "_parley.test/wait": async (_, call) => {
        await peer().notifyExtension("_parley.test/note", { waiting: "$/cancel_request" });
        return untilCancelled(call);
      },
      ...extensions.requests,
    },
    notifications: extensions.notifications,
  };
}

/** Beside the stable methods, with the unstable protocol switched on. */
export function v1UnstableAgent({ peer }: Wire<V1ClientSender>): V1AgentScript {
  return {
    requests: {
      ...unstableRequests,
      "session/fork": (saw) => ({ ...sample.newSessionResponse, sessionId: "fork-1", _meta: { saw } }),
      "session/status": (saw) => ({ status: "open", _meta: { saw } }),
    },
    notifications: {
      "mcp/message": (params) => {
        // only shows that it came, with its params
        void peer().notifyExtension("_parley.test/note", { back: params });
        void peer().notify("auth/status_update", { state: "unauthenticated", accounts: [] });
      },
    },
  };
}
