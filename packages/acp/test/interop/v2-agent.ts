// The agent of the v2 tests, for either library: it answers a prompt at once, works afterwards, and reports in `_meta` what
// it received.

import type {
  AgentNotifications,
  AgentRequests,
  ClientNotifications,
  ClientRequests,
  ContentBlock,
  RequestPermissionRequest,
  SessionUpdate,
} from "@parley/acp/v2";
import {
  extensionScript,
  mcpMessage,
  unstableRequests,
  useExtensions,
  type Waiting,
} from "./shared-agent.ts";
import * as sample from "./v2-samples.ts";
import { outcomeOf, type Script, type Sender, untilCancelled, type Wire } from "./wire-script.ts";

export type V2ClientSender = Sender<ClientRequests, ClientNotifications>;
type V2AgentScript = Script<AgentRequests, AgentNotifications>;

const { sessionId } = sample;

type Say = (update: SessionUpdate) => Promise<void> | undefined;

/** What the agent does in a turn, by the name that the prompt's `_meta.turn` gives. */
function turnsOf(
  wire: Wire<V2ClientSender>,
  say: Say,
  waiting: Waiting,
): Record<string, () => Promise<unknown>> {
  const { peer } = wire;
  const ask = (params: RequestPermissionRequest, options: { readonly signal?: AbortSignal } = {}) =>
    peer().request("session/request_permission", params, options);
  return {
    "every update": async () => {
      for (const update of sample.updates) await say(update);
    },
    "every future update": async () => {
      for (const update of sample.futureUpdates) await say(update);
    },
    "every unstable update": async () => {
      for (const update of sample.unstableUpdates) await say(update);
    },
    "update and ask": async () => {
      void say(sample.updates[0] as SessionUpdate);
      return ask(sample.askAboutTool);
    },
    "ask twice": async () => [await ask(sample.askAboutTool), await ask(sample.askAboutCommand)],
    "ask and give up": async () => {
      const giveUp = new AbortController();
      waiting.asked = () => giveUp.abort();
      return outcomeOf(ask({ ...sample.askAboutTool, title: "hang" }, { signal: giveUp.signal }));
    },
    "ask and fail": () => outcomeOf(ask({ ...sample.askAboutTool, title: "fail" })),
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

export function v2Agent(wire: Wire<V2ClientSender>): V2AgentScript {
  const { peer } = wire;
  const waiting: Waiting = { asked: () => undefined, cancelled: () => undefined };
  const extensions = extensionScript(wire, waiting);
  const say: Say = (update) => peer().notify("session/update", { sessionId, update });
  const turns = turnsOf(wire, say, waiting);
  let prompts = 0;

  async function work(turn: unknown, prompt: readonly ContentBlock[]): Promise<void> {
    let answers: unknown;
    let stopReason: "end_turn" | "max_tokens" | "cancelled" = "end_turn";
    if (turn === "until cancelled") {
      const cancelled = new Promise<void>((resolve) => {
        waiting.cancelled = resolve;
      });
      await peer().notifyExtension("_parley.test/note", { waiting: "session/cancel" });
      await cancelled;
      stopReason = "cancelled";
    } else if (typeof turn === "string") {
      answers = await turns[turn]?.();
    } else {
      stopReason = "max_tokens";
      for (const content of prompt) {
        await say({ sessionUpdate: "agent_message_chunk", messageId: "echo", content });
      }
    }
    await say({
      sessionUpdate: "state_update",
      state: "idle",
      stopReason,
      _meta: { answers: answers ?? null },
    });
  }

  return {
    requests: {
      initialize: (saw) => ({ ...sample.initializeResponse, _meta: { saw } }),
      "auth/login": (saw) => ({ _meta: { saw } }),
      "auth/logout": (saw) => ({ _meta: { saw } }),
      "session/new": (saw) => ({ ...sample.newSessionResponse, _meta: { saw } }),
      "session/resume": async (saw) => {
        if (saw.replayFrom?.type === "start") for (const update of sample.replay) await say(update);
        return { configOptions: sample.configOptions, _meta: { saw } };
      },
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
      "session/set_config_option": (saw) => ({ configOptions: sample.configOptions, _meta: { saw } }),
      "tool_call/cancel": (saw) => ({ _meta: { saw } }),
      "terminal/cancel": (saw) => ({ _meta: { saw } }),
      "session/prompt": async (saw, call) => {
        const turn = saw._meta?.["turn"];
        if (turn === "held") {
          await peer().notifyExtension("_parley.test/note", { waiting: "$/cancel_request" });
          return untilCancelled(call);
        }
        prompts += 1;
        const messageId = `prompt-${prompts}`;
        if (turn === "20 updates") {
          for (let index = 0; index < 20; index += 1) {
            const content = { type: "text" as const, text: String(index) };
            // not awaited on purpose: the response must be right behind the last update
            void say({ sessionUpdate: "agent_message_chunk", messageId: "a", content });
          }
          return { messageId };
        }
        await say({ sessionUpdate: "state_update", state: "running" });
        await say({ sessionUpdate: "user_message", messageId, content: saw.prompt });
        // a turn goes on after its prompt was answered; it ends with an idle state or, failing, with the test's deadline
        void work(turn, saw.prompt);
        return { messageId, _meta: { saw } };
      },
      ...extensions.requests,
    },
    notifications: extensions.notifications,
  };
}

/** Beside the stable methods, with the unstable protocol switched on. */
export function v2UnstableAgent({ peer }: Wire<V2ClientSender>): V2AgentScript {
  return {
    requests: {
      ...unstableRequests,
      "session/fork": (saw) => ({ ...sample.newSessionResponse, sessionId: "fork-1", _meta: { saw } }),
      "session/status": (saw) => ({ status: "open", state: { state: "unknown" }, _meta: { saw } }),
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
