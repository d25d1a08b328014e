// F1: an agent is killed several times at each point of its life, and its session goes on.

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { Entry } from "@parley/acp";
import { inSoak } from "../../../acp/test/support/soak.ts";
import { type CrashPoint, crashingAgent } from "../../test/support/crashing-agent.ts";
import { rules } from "../../test/support/gate-probe.ts";
import { managed, patience, runs } from "../../test/support/managed-probe.ts";
import { openHistory } from "../history.ts";
import {
  historyFile,
  type ManageAgentOptions,
  type ManagedPrompt,
  type ManagedSession,
  recordSessions,
} from "../internal.ts";
import { permissionGate } from "../policy.ts";

const rounds = inSoak(3, 20);
const cwd = tmpdir();

interface Expected {
  /** Whoever asked is told, or is not because nothing had been said yet, it was cancelled, or it had been answered. */
  readonly fate: "told" | "sent again" | "cancelled" | "answered" | "not started";
  /** What is in the history of the prompt: that, what the agent said, and how it ended, for each time that it was sent. */
  readonly history: string;
  /** It has to be ended first, so that it is started anew. */
  readonly isStart?: boolean;
}

const whole = "asked thought said plan call:completed end_turn";

const points: Readonly<Record<CrashPoint, Expected>> = {
  "at the handshake": { fate: "not started", history: "", isStart: true },
  "when the session is taken up": { fate: "sent again", history: whole, isStart: true },
  "before it says anything": { fate: "sent again", history: `asked _interrupted ${whole}` },
  "in a half-written line": { fate: "sent again", history: `asked _interrupted ${whole}` },
  "in a thought": { fate: "told", history: "asked thought _interrupted" },
  "in a message": { fate: "told", history: "asked thought said _interrupted" },
  "with a plan": { fate: "told", history: "asked thought said plan _interrupted" },
  "in a tool call": { fate: "told", history: "asked thought said plan call:failed _interrupted" },
  "while a question is open": { fate: "told", history: "asked thought said plan call:failed _interrupted" },
  "after a permission": { fate: "told", history: "asked thought said plan call:failed _interrupted" },
  "while a terminal runs": { fate: "told", history: "asked thought said plan call:failed _interrupted" },
  "after a tool call": { fate: "told", history: "asked thought said plan call:completed _interrupted" },
  "while it is cancelled": { fate: "cancelled", history: "asked thought said plan call:cancelled cancelled" },
  "in the answer to a prompt": {
    fate: "told",
    history: "asked thought said plan call:completed _interrupted",
  },
  "after the answer to a prompt": { fate: "answered", history: whole },
};

const terminals = permissionGate({ rules: rules("allow exec **") });
const asked: Pick<ManageAgentOptions, "requestPermission" | "policy"> = {
  requestPermission: ({ options }) => options[0]?.optionId,
  policy: { decide: () => "ask", services: (session) => terminals.services(session) },
};

suite("an agent that is killed", { concurrency: 4 }, () => {
  for (const [point, expected] of Object.entries(points) as [CrashPoint, Expected][]) {
    test(`F1 ${point}, ${rounds} times, loses nothing and leaves nothing`, patience, async (t) => {
      const crashing = crashingAgent(t, point);
      const path = join(crashing.folder, "history");
      const failed = (error: unknown) => assert.fail(String(error));
      const history = historyFile(openHistory({ path, failed }));
      const recorder = recordSessions(
        async () => history,
        () => ({ agent: { name: "crashing" }, failed }),
      );
      const deaths = tally();
      const { agent } = await managed(t, crashing.entry, {
        ...asked,
        recorder,
        maxRestarts: 1_000,
        backoffMs: 0,
        onEvent: ({ kind }) => kind === "crashed" && deaths.add(),
      });
      const session = await agent.loadSession("old", { cwd });

      for (let round = 1; round <= rounds; round += 1) {
        const before = deaths.count;
        if (expected.isStart) {
          crashing.dieAtNextStart(`die-${round}`);
          process.kill(agent.pid ?? assert.fail("it runs"), "SIGKILL");
          await deaths.reached(before + 1);
        }
        await lastPrompt(session, `die-${round}`, expected.fate);
        if (expected.fate === "answered") await deaths.reached(before + 1);
        assert.equal(session.state, "idle");
        assert.equal((await session.prompt(`live-${round}`).result).stopReason, "end_turn");
        assert.equal(session.sessionId, "old");
      }

      const { id } = recorder.of("old") ?? assert.fail("it is recorded");
      await agent.close();
      await history.close();
      assert.equal(crashing.lives().length, 1 + (expected.isStart ? 2 : 1) * rounds);
      assert.deepEqual(crashing.pids().filter(runs), []);

      const stored = openHistory({ path });
      t.after(() => stored.close());
      const kept: Entry[] = [];
      for await (const entry of stored.entries(id ?? assert.fail("it was recorded"))) kept.push(entry);
      const once = `${expected.history} ${whole}`.trim();
      assert.equal(gist(kept), Array.from({ length: rounds }, () => once).join(" "));
    });
  }
});

/** The prompt in which it dies, or for which it is started and dies. */
async function lastPrompt(session: ManagedSession, text: string, fate: Expected["fate"]): Promise<void> {
  const prompt = session.prompt(text);
  if (fate === "told") {
    const error = { name: "ConnectionError", kind: "exited", signal: "SIGKILL", message: /SIGKILL/ };
    await assert.rejects(prompt.result, error);
  } else if (fate === "not started") {
    const error = { name: "LaunchError", kind: "exited", signal: "SIGKILL", message: /SIGKILL/ };
    await assert.rejects(prompt.result, error);
  } else {
    if (fate === "cancelled") cancelInCall(session, prompt);
    assert.equal((await prompt.result).stopReason, fate === "cancelled" ? "cancelled" : "end_turn");
  }
}

function cancelInCall(session: ManagedSession, prompt: ManagedPrompt): void {
  const forget = session.onUpdate(({ sessionUpdate }) => {
    if (sessionUpdate !== "tool_call_update") return;
    forget();
    prompt.cancel();
  });
}

/** What is in a history, in few words; of each call only how it ended. */
function gist(entries: readonly Entry[]): string {
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.kind === "prompt") found.push("asked");
    if (entry.kind === "result") found.push(entry.result.stopReason);
    if (entry.kind !== "update") continue;
    const { update } = entry;
    if (update.sessionUpdate === "agent_thought_chunk") found.push("thought");
    if (update.sessionUpdate === "agent_message_chunk") found.push("said");
    if (update.sessionUpdate === "plan_update") found.push("plan");
    if (update.sessionUpdate !== "tool_call_update") continue;
    if (found.at(-1)?.startsWith("call:")) found.pop();
    found.push(`call:${update.status}`);
  }
  return found.join(" ");
}

/** Counts, and waits for a number. */
function tally() {
  let count = 0;
  let wake = () => {};
  return {
    get count() {
      return count;
    },
    add() {
      count += 1;
      wake();
    },
    async reached(number: number) {
      while (count < number) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}
