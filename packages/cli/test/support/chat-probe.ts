// For tests: a conversation with scripted agents behind sockets of this process.

import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Transport, webSocketTransport } from "@parley/acp";
import type { Conversation } from "@parley/client/conversation";
import { type AgentScenario, type ScriptedAgent, scriptedAgent } from "@parley/conformance/testing";
import { WebSocket, WebSocketServer } from "ws";
import { atEnd, temporaryFolder } from "../../../acp/test/support/at-end.ts";
import type {
  ConversationEvent,
  Conversations,
  ExportFormat,
} from "../../src/chat/conversation/conversations.ts";
import {
  type ConversationOptions,
  startConversations,
} from "../../src/chat/conversation/start-conversations.ts";
import { type LiveOptions, secretsOf } from "../../src/live/live-options.ts";

export const patience = { timeout: 60_000 };

/** The link between conversations and their hosts. Default: none. */
export const linked: { link: ConversationOptions["link"] } = { link: undefined };

export interface FarAgent {
  readonly url: string;
  /** Cuts all connections, as a crash does. */
  cut(): void;
  /** Another connection to it. */
  open(): Transport;
}

/** An agent that keeps its sessions when its connection is cut. */
export async function farAgent(
  t: Pick<TestContext, "after">,
  play: Partial<AgentScenario>,
): Promise<FarAgent & { readonly agent: ScriptedAgent }> {
  const agent = scriptedAgent({ parley: "agent-scenario", version: 1, ...play });
  return { agent, ...(await servedBySocket(t, (transport) => agent.connect(transport))) };
}

/** Gives each connection to `connect`. */
export async function servedBySocket(
  t: Pick<TestContext, "after">,
  connect: (transport: Transport) => unknown,
): Promise<FarAgent> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const sockets = new Set<{ terminate(): void }>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    connect(webSocketTransport(socket as never)); // it has more than is needed
  });
  const cut = () => {
    for (const socket of sockets) socket.terminate();
    sockets.clear();
  };
  atEnd(t, () => {
    cut();
    server.close();
  });
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, cut, open: () => webSocketTransport(new WebSocket(url) as never) }; // as above
}

/** An empty home of Parley with these agents in its config, and a folder to work in. */
export function chatHome(t: Pick<TestContext, "after">, agents: Readonly<Record<string, FarAgent>> = {}) {
  const folder = temporaryFolder(t, "parley-chat-");
  const before = process.env["PARLEY_HOME"];
  process.env["PARLEY_HOME"] = join(folder, "home");
  atEnd(t, () => {
    if (before === undefined) delete process.env["PARLEY_HOME"];
    else process.env["PARLEY_HOME"] = before;
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
  readonly conversation: Conversations;
  readonly session: Conversation;
  readonly events: readonly ConversationEvent[];
  /** The transcript. */
  exported(format: ExportFormat, of?: Conversation): Promise<string>;
  /** The texts of all notices. */
  notices(): string;
  /** Resolves when the host has got all commands so far, and the conversation what they changed. */
  caughtUp(): Promise<unknown>;
  /** Resolves when it is true. */
  until(isTrue: () => boolean): Promise<void>;
  /** Resolves with the text of the agent's messages when no turn runs and nothing waits. */
  answered(turns: number): Promise<string>;
}

/** A conversation, closed with the test. */
export function chatWith(
  t: Pick<TestContext, "after">,
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
  const conversation = startConversations({
    options,
    secrets: secretsOf(options),
    link: linked.link,
    ...more,
  });
  atEnd(t, () => conversation.close());
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
  // a command like any other
  const caughtUp = () => session.unqueue("none");
  const ended = () => events.filter(({ kind }) => kind === "turn").length;
  return {
    conversation,
    session,
    events,
    caughtUp,
    until,
    exported: (format, of = session) => conversation.exported({ kind: "live", session: of }, format),
    notices: () => events.flatMap((event) => (event.kind === "notice" ? [event.notice.text] : [])).join("\n"),
    async answered(turns) {
      await until(() => ended() >= turns);
      return saidIn(conversation.current);
    },
  };
}

/** What the agent said, message by message. */
export function saidIn({ view }: Conversation): string {
  return view.timeline.flatMap((item) => (item.kind === "agent_message" ? [item.text] : [])).join("|");
}

/** What the user said, message by message. */
export function promptsIn({ view }: Conversation): string {
  return view.timeline.flatMap((item) => (item.kind === "user_message" ? [item.text] : [])).join("|");
}
