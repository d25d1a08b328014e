// Hosts, agents and both are killed at random points, and the session goes on from the history: nothing that was
// acknowledged is lost, nothing is done twice, and no process is left.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as turnOfTheLoop } from "node:timers/promises";
import type { Entry } from "@parley/acp";
import { programCommand } from "../../../acp/test/support/programs.ts";
import { inSoak } from "../../../acp/test/support/soak.ts";
import { killedAgent } from "../../test/support/killed-agent.ts";
import { runs } from "../../test/support/managed-probe.ts";
import type { HostQuestion, SessionStatus, TailEvent, TurnSummary } from "../conversation.ts";
import { openHistory } from "../history.ts";

const kills = inSoak(12, 300);
const seed = Number(process.env["PARLEY_KILL_SEED"] ?? inSoak(32, Math.floor(Math.random() * 1e9)));
const victims = ["host", "agent", "both"] as const;
const points = ["stream", "question", "write", "idle"] as const;

interface Message {
  readonly event?: TailEvent;
  readonly outcome?: string;
  readonly failed?: string;
}

/** A host in a process of its own, and what it has said. */
function startHost(args: readonly string[]) {
  const [command, ...program] = programCommand("client/test/support/killed-host.ts");
  const child: ChildProcess = spawn(command, [...program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "close");
  const entries: Entry[] = [];
  const turns: TurnSummary[] = [];
  const outcomes = new Set<string>();
  let status: Partial<SessionStatus> = {};
  let isOver = false;
  let wake = () => {};
  createInterface({ input: child.stdout ?? assert.fail() }).on("line", (line) => {
    const { event, outcome, failed } = JSON.parse(line) as Message; // of our program
    assert.equal(failed, undefined, line);
    if (outcome !== undefined) outcomes.add(outcome);
    if (event?.kind === "entries") {
      entries.push(...event.entries);
      for (const entry of event.isPast ? [] : event.entries)
        if (entry.kind === "extension" && entry.name.endsWith("turn"))
          turns.push(entry.value as unknown as TurnSummary); // as a host writes them
    }
    // as: null stands for a field without a value
    if (event !== undefined && "status" in event) status = { ...status, ...(event.status as object) };
    wake();
  });
  void exited.then(() => {
    isOver = true;
    wake();
  });
  return {
    pid: child.pid ?? assert.fail(),
    exited,
    entries,
    turns,
    outcomes,
    get status() {
      return status;
    },
    get question(): HostQuestion | undefined {
      return status.questions?.[0];
    },
    submit(command: object): string {
      const key = randomUUID();
      child.stdin?.write(`${JSON.stringify({ ...command, key })}\n`, () => undefined);
      return key;
    },
    async until(isTrue: () => boolean): Promise<void> {
      while (!isTrue()) {
        assert.ok(!isOver, "the host has ended by itself");
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    end: () => child.stdin?.end(),
  };
}

type StartedHost = ReturnType<typeof startHost>;

test(`${kills} kills of host, agent and both lose nothing that was acknowledged, and do nothing twice`, {
  timeout: inSoak(180_000, 3_600_000),
}, async (t) => {
  const agent = killedAgent(t);
  const path = join(agent.folder, "history.db");
  const random = randomNumbers(seed);
  t.diagnostic(`PARLEY_KILL_SEED=${seed}`);
  const pick = (most: number) => Math.floor(random() * most);
  const words: string[] = [];
  const ended = new Map<string, string>();
  const answered: string[] = [];
  let unknown = 0;
  const pids: number[] = [];
  let id = "";
  let host: StartedHost | undefined;
  t.after(() => host && runs(host.pid) && process.kill(host.pid, "SIGKILL"));

  const begin = async (): Promise<StartedHost> => {
    const started = startHost([path, agent.folder, id, ...agent.command]);
    host = started;
    pids.push(started.pid);
    await started.until(() => started.status.phase === "ready" && started.status.historyId !== undefined);
    id = started.status.historyId ?? "";
    return started;
  };
  const gone = async (all: readonly number[]): Promise<void> => {
    while (all.some(runs)) await turnOfTheLoop(5);
  };

  for (let round = 0; round < kills; round += 1) {
    const victim = victims[round % victims.length] ?? "host";
    const point = points[pick(points.length)] ?? "idle";
    const current = host ?? (await begin());
    const word = `${point}-${round}`;
    words.push(word);
    const turnsBefore = current.turns.length;
    const hasEnded = () => current.turns.length > turnsBefore;
    const said = () => textAfter(current.entries, word);
    current.submit({ kind: "prompt", input: { text: word } });
    const mark = pick(61);
    if (point === "stream") await current.until(() => hasEnded() || said().includes(` ${mark} `));
    else if (point === "write") await current.until(() => hasEnded() || said().includes(` ${mark % 11} `));
    else if (point === "idle") await current.until(hasEnded);
    else {
      await current.until(() => current.question !== undefined);
      const how = pick(3);
      const { id: questionId = "" } = current.question ?? {};
      // open, being answered, or answered
      const key = how === 0 ? "" : current.submit({ kind: "answer", questionId, answer: "allow:once" });
      if (how === 2) {
        await current.until(() => current.outcomes.has(key));
        answered.push(word);
      }
    }
    const agentPid = agent.lives().find(runs);
    if (victim !== "host" && agentPid !== undefined) process.kill(agentPid, "SIGKILL");
    if (victim !== "agent") process.kill(current.pid, "SIGKILL");
    if (victim === "agent") {
      await current.until(() => hasEnded() && current.status.turn == null);
      await current.until(() => current.status.phase === "crashed" || agent.lives().some(runs));
    } else {
      await current.exited;
      await gone([current.pid, ...agent.lives()]);
      host = undefined;
    }
    const end = current.turns[turnsBefore];
    if (end !== undefined) ended.set(word, end.result.stopReason);
    assert.ok(current.turns.length <= turnsBefore + 1, `${word} has ended more than once`);
  }

  // one more host, which ends well
  const last = host ?? (await begin());
  const before = last.turns.length;
  last.submit({ kind: "prompt", input: { text: "idle-last" } });
  await last.until(() => last.turns.length > before);
  assert.equal(last.turns.at(-1)?.result.stopReason, "end_turn");
  last.end();
  await last.exited;
  await gone([...pids, ...agent.lives()]);

  const history = openHistory({ path });
  t.after(() => history.close());
  const kept: Entry[] = [];
  for await (const entry of history.entries(id)) kept.push(entry);
  assert.equal((await history.list()).length, 1);
  checkLog(kept);
  for (const word of words) {
    const given = agent.noted("given", word);
    const begun = agent.noted("begun", word);
    assert.ok(begun <= 1, `${word} was begun ${begun} times`);
    assert.ok(given <= begun + 1, `${word} was given ${given} times and begun ${begun} times`);
    const results = resultsOf(kept, word);
    // nobody was told that the prompt is in the log
    if (given > 0 && results.length === 0 && !ended.has(word) && !answered.includes(word)) {
      unknown += 1;
      continue;
    }
    const wanted = ended.get(word);
    if (wanted === "end_turn") {
      assert.equal(begun, 1, word);
      assert.equal(results.at(-1), "end_turn", `the end of ${word} was seen, and is lost`);
    }
    if (wanted !== undefined)
      assert.ok(
        turnEntriesAfter(kept, word) > 0,
        `the turn of ${word} was seen to end, and the log does not say so`,
      );
  }
  for (const word of answered)
    assert.equal(answerOf(kept, word), "selected", `the answer of ${word} is lost`);
  t.diagnostic(
    `${kills} kills, ${ended.size} turns seen to end, ${answered.length} answers, ${kept.length} entries; ${unknown} prompts reached the agent and not the log`,
  );
});

/** Every prompt has one result, and every question one answer; they are numbered without a gap. */
function checkLog(entries: readonly Entry[]): void {
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    entries.map((_, at) => at + 1),
  );
  const count = new Map<string, number>();
  for (const entry of entries) {
    const change = entry.kind === "prompt" || entry.kind === "ask" ? 1 : -1;
    const key = "askId" in entry ? entry.askId : "messageId" in entry ? entry.messageId : undefined;
    if (key !== undefined && entry.kind !== "turn") count.set(key, (count.get(key) ?? 0) + change);
  }
  assert.deepEqual(
    [...count].filter(([, left]) => left !== 0),
    [],
  );
}

function textAfter(entries: readonly Entry[], word: string): string {
  let text = "";
  for (const entry of entries) {
    if (entry.kind !== "update" || entry.update.sessionUpdate !== "agent_message_chunk") continue;
    text += "content" in entry.update ? String((entry.update.content as { text?: string }).text) : ""; // of our agent
  }
  const at = text.lastIndexOf(word);
  return at < 0 ? "" : text.slice(at);
}

function promptsOf(entries: readonly Entry[], word: string) {
  return entries.filter(
    (entry): entry is Extract<Entry, { kind: "prompt" }> =>
      entry.kind === "prompt" && JSON.stringify(entry.prompt).includes(`"${word}"`),
  );
}

function resultsOf(entries: readonly Entry[], word: string): readonly string[] {
  const ids = promptsOf(entries, word).map(({ messageId }) => messageId);
  return entries.flatMap((entry) =>
    entry.kind === "result" && ids.includes(entry.messageId) ? [entry.result.stopReason] : [],
  );
}

/** Before the next prompt with other words. */
function turnEntriesAfter(entries: readonly Entry[], word: string): number {
  const first = entries.indexOf(promptsOf(entries, word)[0] ?? assert.fail(`the log does not have ${word}`));
  const rest = entries.slice(first + 1);
  const next = rest.findIndex(
    (entry) => entry.kind === "prompt" && !JSON.stringify(entry.prompt).includes(`"${word}"`),
  );
  const own = next < 0 ? rest : rest.slice(0, next);
  return own.filter((entry) => entry.kind === "extension" && entry.name.endsWith("turn")).length;
}

function answerOf(entries: readonly Entry[], word: string): string | undefined {
  const asked = entries.find(
    (entry) => entry.kind === "ask" && JSON.stringify(entry).includes(`"call-${word}"`),
  );
  const answers = entries.flatMap((entry) =>
    entry.kind === "answer" && asked !== undefined && "askId" in asked && entry.askId === asked.askId
      ? [entry]
      : [],
  );
  const [answer] = answers;
  return answer !== undefined && "permission" in answer ? answer.permission.outcome : undefined;
}

function randomNumbers(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
