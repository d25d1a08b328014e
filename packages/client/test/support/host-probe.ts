// For tests: a host with a scripted agent, and conversations on it.

import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import {
  type Conversation,
  type ConversationEvent,
  type Notice,
  type OpenQuestion,
  openConversation,
  type SessionLink,
  type TurnSummary,
} from "@parley/client/conversation";
import { type History, openHistory } from "@parley/client/history";
import { type Host, type HostedSessionOptions, type HostOptions, openHost } from "@parley/client/host";
import { type Life, scripted } from "./managed-probe.ts";

/** A conversation, with what its user has seen so far. */
export interface Talk {
  readonly conversation: Conversation;
  readonly turns: readonly TurnSummary[];
  readonly notices: readonly Notice[];
  /** The timeline in few words, an item per line. */
  shown(): readonly string[];
  /** Sends a prompt, and waits until no turn runs. */
  ask(text: string): Promise<void>;
  /** Resolves when it is true. */
  until(isTrue: () => boolean): Promise<void>;
  /** Resolves when so many turns have ended, and none runs. */
  ended(turns: number): Promise<void>;
  /** Resolves with an open question of this kind. */
  asked<Kind extends OpenQuestion["kind"]>(kind: Kind): Promise<Extract<OpenQuestion, { kind: Kind }>>;
}

interface HostedOptions extends Partial<HostOptions> {
  readonly traits?: object;
  readonly keepsHistory?: boolean;
}

/** A host of an agent with these lives; it is closed with the test. */
export function hosted(
  t: TestContext,
  lives: readonly Life[],
  { traits, keepsHistory = false, ...options }: HostedOptions = {},
) {
  const hosts: Host[] = [];
  const opened: { history?: History } = {};
  // before the folder is removed
  t.after(async () => {
    await Promise.all(hosts.map((each) => each.close()));
    await opened.history?.close();
  });
  const agent = scripted(t, ...lives);
  if (keepsHistory) opened.history = openHistory({ path: join(agent.folder, "history.db") });
  const { command, args, name } = agent.entry;
  const another = () => {
    const host = openHost(
      { name, command, args, traits: { graceMs: 500, ...traits } },
      { name: "test", version: "1.0.0", backoffMs: 1, cwd: agent.folder, ...opened, ...options },
    );
    hosts.push(host);
    return host;
  };
  const host = another();
  return {
    ...agent,
    host,
    /** Where `keepsHistory` is set. */
    get history(): History {
      return opened.history ?? assert.fail("no history is kept");
    },
    /** Another host of the same agent. */
    another,
    talk: (place?: HostedSessionOptions) => follow(host.open(place)),
  };
}

export function follow(link: SessionLink): Talk {
  const conversation = openConversation(link);
  const turns: TurnSummary[] = [];
  const notices: Notice[] = [];
  const waiting = new Set<() => void>();
  conversation.onEvent((event: ConversationEvent) => {
    if (event.kind === "turn") turns.push(event.summary);
    if (event.kind === "notice") notices.push(event.notice);
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
  const ended = (count: number) => until(() => turns.length >= count && conversation.turn === undefined);
  return {
    conversation,
    turns,
    notices,
    until,
    ended,
    shown: () => shownIn(conversation),
    async ask(text) {
      const before = turns.length;
      conversation.send({ text });
      await ended(before + 1);
    },
    async asked(kind) {
      const found = () => conversation.questions.find((each) => each.kind === kind);
      await until(() => found() !== undefined);
      return found() as never; // of this kind
    },
  };
}

/** The timeline in few words. */
export function shownIn({ view }: Conversation): readonly string[] {
  return view.timeline.map((item) => {
    switch (item.kind) {
      case "user_message":
        return `user: ${item.text}`;
      case "agent_message":
        return `agent: ${item.text}`;
      case "agent_thought":
        return `thought: ${item.text}`;
      case "tool_call":
        return `call ${item.label}: ${item.status}`;
      case "permission":
        return `question: ${item.answer?.outcome ?? "open"}`;
      default:
        return item.kind;
    }
  });
}
