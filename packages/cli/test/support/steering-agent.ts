// For tests: an agent of version 2 that takes a message while it works as claude-agent-acp does. It ends its turn, answers the
// second prompt, says that it runs again and works on. A person at its other end can make it begin by itself, too.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Transport } from "@parley/acp";
import { type FarAgent, servedBySocket } from "./chat-probe.ts";

export interface SteeringAgent extends FarAgent {
  /** The methods that it was sent. */
  readonly methods: readonly string[];
  /** It begins to work, although nobody has asked it to. */
  begin(): void;
  /** Writes a file on its own account. */
  write(name: string, text: string): void;
  /** Ends its work. */
  end(): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly cwd?: string; readonly prompt?: readonly { readonly text?: string }[] };
}

/** The first prompt runs until a second one comes; that one runs until `end`, or until it is cancelled. */
export async function steeringAgent(t: Pick<TestContext, "after">): Promise<SteeringAgent> {
  const methods: string[] = [];
  let transport: Transport | undefined;
  let cwd = "";
  let count = 0;
  let isWorking = false;
  const send = (message: object) => transport?.send({ jsonrpc: "2.0", ...message });
  const update = (content: object) =>
    send({ method: "session/update", params: { sessionId: "s1", update: content } });
  const state = (name: "running" | "idle", stopReason?: string) => {
    isWorking = name === "running";
    update({ sessionUpdate: "state_update", state: name, ...(stopReason && { stopReason }) });
  };
  const say = (text: string) =>
    update({
      sessionUpdate: "agent_message_chunk",
      messageId: `m${++count}`,
      content: { type: "text", text },
    });
  const prompted = (id: number | undefined, text: string) => {
    if (isWorking) state("idle", "end_turn");
    const messageId = `u${++count}`;
    send({ id, result: { messageId } });
    update({ sessionUpdate: "user_message", messageId, content: [{ type: "text", text }] });
    state("running");
    say(`about ${text}`);
  };
  const answers: Readonly<Record<string, (message: Message) => void>> = {
    initialize: ({ id }) =>
      send({
        id,
        result: {
          protocolVersion: 2,
          info: { name: "steering", version: "1.0.0" },
          capabilities: { session: {} },
        },
      }),
    "session/new": ({ id, params }) => {
      cwd = params?.cwd ?? "";
      send({ id, result: { sessionId: "s1" } });
    },
    "session/prompt": ({ id, params }) => prompted(id, params?.prompt?.[0]?.text ?? ""),
    "session/cancel": () => state("idle", "cancelled"),
    "session/close": ({ id }) => send({ id, result: {} }),
  };
  const served = await servedBySocket(t, (opened) => {
    transport = opened;
    opened.start({
      message(value) {
        const message = value as Message; // sent by our own client
        methods.push(message.method ?? "");
        answers[message.method ?? ""]?.(message);
      },
      idle: () => undefined,
      reject: () => undefined,
      drain: () => undefined,
      end: () => undefined,
    });
  });
  return {
    ...served,
    methods,
    begin: () => state("running"),
    write: (name, text) => writeFileSync(join(cwd, name), text),
    end: () => state("idle", "end_turn"),
  };
}
