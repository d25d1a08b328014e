// For tests: a conversation with scripted agents behind sockets of this process.

import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { webSocketTransport } from "@parley/acp";
import { type AgentScenario, type ScriptedAgent, scriptedAgent } from "@parley/acp/testing";
import { WebSocketServer } from "ws";
import {
  type ConversationOptions,
  startConversation,
} from "../../src/chat/conversation/chat-conversation.ts";
import type {
  Conversation,
  ConversationEvent,
  LiveSession,
} from "../../src/chat/conversation/conversation.ts";
import { type LiveOptions, secretsOf } from "../../src/live/live-options.ts";

export const patience = { timeout: 60_000 };

export interface FarAgent {
  readonly url: string;
  readonly agent: ScriptedAgent;
  /** Cuts all connections, as a crash does. */
  cut(): void;
}

/** An agent that keeps its sessions when its connection is cut. */
export async function farAgent(t: TestContext, play: Partial<AgentScenario>): Promise<FarAgent> {
  const agent = scriptedAgent({ parley: "agent-scenario", version: 1, ...play });
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const sockets = new Set<{ terminate(): void }>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    agent.connect(webSocketTransport(socket as never)); // it has more than is needed
  });
  const cut = () => {
    for (const socket of sockets) socket.terminate();
    sockets.clear();
  };
  t.after(() => {
    cut();
    server.close();
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`, agent, cut };
}

/** An empty home of Parley with these agents in its config, and a folder to work in. */
export function chatHome(t: TestContext, agents: Readonly<Record<string, FarAgent>> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-chat-")));
  const before = process.env["PARLEY_HOME"];
  process.env["PARLEY_HOME"] = join(folder, "home");
  t.after(() => {
    if (before === undefined) delete process.env["PARLEY_HOME"];
    else process.env["PARLEY_HOME"] = before;
    rmSync(folder, { recursive: true, force: true });
  });
  const entries = Object.entries(agents).map(([name, { url }]) => [name, { url }]);
  mkdirSync(join(folder, "home", "config"), { recursive: true });
  const config = { agents: Object.fromEntries(entries) };
  writeFileSync(join(folder, "home", "config", "config.json"), JSON.stringify(config));
  const cwd = join(folder, "work");
  mkdirSync(cwd);
  return { cwd, home: join(folder, "home") };
}

export interface Chat {
  readonly conversation: Conversation;
  readonly session: LiveSession;
  readonly events: readonly ConversationEvent[];
  /** The texts of all notices. */
  notices(): string;
  /** Resolves when it is true. */
  until(isTrue: () => boolean): Promise<void>;
  /** Resolves with the text of the agent's messages when no turn runs and nothing waits. */
  answered(turns: number): Promise<string>;
}

/** A conversation, closed with the test. */
export function chatWith(
  t: TestContext,
  given: Partial<LiveOptions> & Pick<LiveOptions, "cwd">,
  more: Pick<ConversationOptions, "changes"> = {},
): Chat {
  const options: LiveOptions = {
    agent: undefined,
    command: [],
    isCwdGiven: true,
    extraRoots: [],
    session: undefined,
    isContinued: false,
    policy: undefined,
    allow: [],
    ask: [],
    deny: [],
    sandbox: "off",
    sandboxesAgent: false,
    reviewer: undefined,
    mode: undefined,
    model: undefined,
    set: [],
    mcpServers: [],
    keepsHistory: true,
    showsStderr: false,
    ...given,
  };
  const conversation = startConversation({ options, secrets: secretsOf(options), ...more });
  t.after(() => conversation.close());
  const events: ConversationEvent[] = [];
  const waiting = new Set<() => void>();
  conversation.onEvent((event) => {
    events.push(event);
    for (const check of [...waiting]) check();
  });
  const until = (isTrue: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = () => {
        if (!isTrue()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  const { current: session } = conversation;
  const ended = () => events.filter(({ kind }) => kind === "turn").length;
  return {
    conversation,
    session,
    events,
    until,
    notices: () => events.flatMap((event) => (event.kind === "notice" ? [event.notice.text] : [])).join("\n"),
    async answered(turns) {
      await until(() => ended() >= turns);
      return saidIn(conversation.current);
    },
  };
}

/** What the agent said, message by message. */
export function saidIn({ view }: LiveSession): string {
  return view.timeline.flatMap((item) => (item.kind === "agent_message" ? [item.text] : [])).join("|");
}

/** What the user said, message by message. */
export function promptsIn({ view }: LiveSession): string {
  return view.timeline.flatMap((item) => (item.kind === "user_message" ? [item.text] : [])).join("|");
}
