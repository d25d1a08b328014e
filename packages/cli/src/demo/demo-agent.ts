// A small scripted agent on the raw wire of protocol version 1: it plans, reads a file through the client,
// asks before it writes one, streams its answer, and stops when it is told to.

import { setTimeout as pause } from "node:timers/promises";
import { RequestError } from "@parley/acp";
import { stdioTransport } from "@parley/acp/node";
import { type AgentPeer, agentPeer, type ClientCapabilities, type SessionUpdate } from "@parley/acp/v1";
import type { Invocation } from "../command/command.ts";

interface Session {
  readonly cwd: string;
  turn: AbortController | undefined;
}

/** Everything that one turn needs. */
interface Turn {
  readonly client: AgentPeer;
  readonly sessionId: string;
  readonly cwd: string;
  readonly can: ClientCapabilities;
  readonly signal: AbortSignal;
  say(update: SessionUpdate): Promise<void>;
}

export async function run({ values }: Invocation): Promise<number> {
  const paceMs = Number(values.pace ?? 0);
  if (process.stdin.isTTY) {
    process.stderr.write(
      "parley demo-agent speaks ACP on stdin and stdout and waits for a client; see parley help demo-agent\n",
    );
  }
  const sessions = new Map<string, Session>();
  let can: ClientCapabilities = {};

  const client: AgentPeer = agentPeer(stdioTransport(), {
    requests: {
      initialize({ clientCapabilities }) {
        can = clientCapabilities ?? {};
        return { protocolVersion: 1, agentInfo: { name: "parley-demo-agent", version: "0.1.0" } };
      },
      "session/new"({ cwd }) {
        const sessionId = `demo-${sessions.size + 1}`;
        sessions.set(sessionId, { cwd, turn: undefined });
        return { sessionId };
      },
      async "session/prompt"({ sessionId, prompt }, request) {
        const session = findSession(sessions, sessionId);
        session.turn = new AbortController();
        const signal = AbortSignal.any([session.turn.signal, request.signal]);
        const say = async (update: SessionUpdate) => {
          await client.notify("session/update", { sessionId, update });
          if (paceMs > 0) await pause(paceMs);
        };
        const text = prompt.map((block) => (block.type === "text" ? block.text : "")).join(" ");
        const turn: Turn = { client, sessionId, cwd: session.cwd, can, signal, say };
        try {
          if (/\bwait\b/i.test(text)) await waitForCancel(turn);
          else await summarise(turn);
        } catch (error) {
          // what a cancelled turn was waiting for rejects; a cancel is an outcome, not an error (A48)
          if (!signal.aborted) throw error;
        }
        return { stopReason: signal.aborted ? "cancelled" : "end_turn" };
      },
    },
    notifications: {
      "session/cancel"({ sessionId }) {
        sessions.get(sessionId)?.turn?.abort();
      },
    },
  });
  await client.closed;
  return 0;
}

function findSession(sessions: ReadonlyMap<string, Session>, sessionId: string): Session {
  const session = sessions.get(sessionId);
  if (session !== undefined) return session;
  const hint = "open one with session/new";
  throw new RequestError(-32002, `no session ${sessionId}; ${hint}`, {
    reason: "session_not_found",
    sessionId,
  });
}

/** A turn that only ends when the client cancels it. */
async function waitForCancel({ say, signal }: Turn): Promise<void> {
  await say(thought("I was asked to wait, so I wait for a cancel"));
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
}

async function summarise(turn: Turn): Promise<void> {
  const { say, cwd } = turn;
  const path = `${cwd}/notes.txt`;
  await say(plan("in_progress", "pending"));
  await say(thought("The notes are in notes.txt, so I read them first"));
  const notes = await readNotes(turn, path);
  await say(plan("completed", "in_progress"));
  const lines = notes.trim().split("\n").length;
  const written = await writeSummary(turn, `${cwd}/summary.txt`, `notes.txt has ${lines} lines\n`);
  await say(plan("completed", "completed"));
  for (const text of [
    `notes.txt has ${lines} lines`,
    ", and the summary ",
    written ? "is in summary.txt." : "was not written.",
  ]) {
    await say({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }
}

async function readNotes({ client, sessionId, can, say, signal }: Turn, path: string): Promise<string> {
  const toolCallId = "read-notes";
  await say({
    sessionUpdate: "tool_call",
    toolCallId,
    title: "Read notes.txt",
    kind: "read",
    locations: [{ path }],
  });
  const notes = can.fs?.readTextFile
    ? (await client.request("fs/read_text_file", { sessionId, path }, { signal })).content
    : "(this client offers no files)";
  const content = { type: "content", content: { type: "text", text: notes } } as const;
  await say({ sessionUpdate: "tool_call_update", toolCallId, status: "completed", content: [content] });
  return notes;
}

async function writeSummary(turn: Turn, path: string, newText: string): Promise<boolean> {
  const { client, sessionId, can, say, signal } = turn;
  const toolCallId = "write-summary";
  const diff = { type: "diff", path, newText } as const;
  const { outcome } = await client.request(
    "session/request_permission",
    {
      sessionId,
      toolCall: { toolCallId, title: "Write summary.txt", kind: "edit", status: "pending", content: [diff] },
      options: [
        { optionId: "yes", name: "Write it", kind: "allow_once" },
        { optionId: "no", name: "Leave it", kind: "reject_once" },
      ],
    },
    { signal },
  );
  const allowed =
    outcome.outcome === "selected" && outcome.optionId === "yes" && can.fs?.writeTextFile === true;
  if (allowed) await client.request("fs/write_text_file", { sessionId, path, content: newText }, { signal });
  await say({ sessionUpdate: "tool_call_update", toolCallId, status: allowed ? "completed" : "failed" });
  return allowed;
}

type PlanStatus = "pending" | "in_progress" | "completed";

function plan(read: PlanStatus, write: PlanStatus): SessionUpdate {
  const entries = [
    { content: "Read notes.txt", priority: "medium" as const, status: read },
    { content: "Write summary.txt", priority: "medium" as const, status: write },
  ];
  return { sessionUpdate: "plan", entries };
}

function thought(text: string): SessionUpdate {
  return { sessionUpdate: "agent_thought_chunk", content: { type: "text", text } };
}
