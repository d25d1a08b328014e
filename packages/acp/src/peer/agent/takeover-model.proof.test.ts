// Random clients share a session: they come and go, take it over, prompt, cancel, close and die at any moment.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type AttachedClient, attachedClient } from "../../../test/support/attached-client.ts";
import { place, quiet, said } from "../../../test/support/peer-probe.ts";
import { Random } from "../../../test/support/random.ts";
import { inSoak } from "../../../test/support/soak.ts";
import { storedEntries } from "../../../test/support/stored-entries.ts";
import { agent, type ClientSession, RequestError, textOf } from "../../index.ts";
import { memoryStore, parseEntry, type SessionStore } from "../../store.ts";

const seeds = inSoak(150, 3_000);
const steps = 40;

/** Counts who has the claim, and refuses a second one. */
function claimedStore() {
  const memory = memoryStore();
  const claimed = new Set<string>();
  const store: SessionStore = {
    ...memory,
    async create(record) {
      claimed.add(record.sessionId);
      return memory.create(record);
    },
    async claim(sessionId) {
      assert.ok(!claimed.has(sessionId), "claimed twice");
      claimed.add(sessionId);
      return memory.claim(sessionId);
    },
    async release(claim) {
      assert.ok(claimed.delete(claim.sessionId), "released twice");
      await memory.release(claim);
    },
    // what is stored is looked at in the end
    close: async () => undefined,
  };
  return { store, claimed };
}

async function storedText(store: SessionStore, sessionId: string): Promise<string> {
  let text = "";
  for await (const stored of storedEntries(store, sessionId)) {
    const entry = parseEntry(stored);
    if (entry.kind === "update" && entry.update.sessionUpdate === "agent_message_chunk")
      text += textOf(entry.update.content);
  }
  return text;
}

interface Seat {
  readonly at: AttachedClient;
  session: ClientSession | undefined;
}

async function play(seed: number): Promise<string[]> {
  const random = new Random(seed);
  const { store, claimed } = claimedStore();
  const errors: string[] = [];
  const gates = new Set<() => void>();
  let running = 0;
  const made = agent({
    name: "a",
    version: "1",
    session: { store },
    log: (level, message) => level === "error" && errors.push(message),
    async prompt(turn) {
      running += 1;
      assert.equal(running, 1, "two handlers run at once");
      const gate = Promise.withResolvers<void>();
      gates.add(gate.resolve);
      turn.signal.addEventListener("abort", () => gate.resolve());
      try {
        await turn.say(`${turn.text} `);
        if (random.chance(0.5)) await turn.requestPermission("May I?");
        await gate.promise;
        if (!turn.signal.aborted) await turn.say("done ");
      } finally {
        gates.delete(gate.resolve);
        running -= 1;
      }
    },
  });
  const enter = async (): Promise<Seat> => {
    const requestPermission = () =>
      random.chance(0.5) ? "allow_once" : new Promise<undefined>(() => undefined);
    const edition = random.pick(["v1", "v2"] as const);
    return { at: await attachedClient(made, { edition, requestPermission }), session: undefined };
  };
  const first = await enter();
  first.session = await first.at.connection.newSession(place);
  const { sessionId } = first.session;
  let seats = [first, await enter(), await enter()];
  const pending: Promise<unknown>[] = [];
  /** Only what a client must reckon with. */
  const expected = (error: unknown) => {
    const isExpected =
      (error instanceof RequestError &&
        ["conflict", "session_not_found", "cancelled"].includes(error.kind)) ||
      (error as Error).name === "ConnectionError";
    assert.ok(isExpected, `seed ${seed}: ${String(error)}`);
  };
  const load = async (seat: Seat) => {
    const takeover = random.chance(0.6);
    const { session } = await seat.at.load(sessionId, { takeover, resume: random.chance(0.3) });
    seat.session = session;
  };
  const prompt = async ({ session }: Seat, text: string) => void (await session?.prompt(text).result);
  const close = async ({ session }: Seat) => void (await session?.close());
  const cancel = async ({ session }: Seat) => void (await session?.cancel());
  let prompts = 0;
  for (let step = 0; step < steps; step++) {
    const seat = random.pick(seats);
    const choice = random.below(20);
    if (choice < 6) pending.push(load(seat).catch(expected));
    else if (choice < 10) void prompt(seat, `p${prompts++}`).catch(expected);
    else if (choice < 12) for (const go of gates) go();
    else if (choice < 13) void cancel(seat).catch(expected);
    else if (choice < 15) seat.at.detach();
    else if (choice < 17) seat.at.attach();
    else if (choice < 18) pending.push(close(seat).catch(expected));
    else {
      const closing = random.chance(0.5) ? seat.at.served.close() : seat.at.connection.close();
      pending.push(closing);
      seats = [...seats.filter((each) => each !== seat), await enter()];
    }
    if (random.chance(0.6)) await quiet();
    assert.ok(running <= 1);
  }
  for (const { at } of seats) at.attach();
  await Promise.all(pending);
  for (const go of gates) go();
  await quiet();
  // whoever comes last gets all that was said
  const last = await enter();
  const { updates } = await last.at.load(sessionId, { takeover: true });
  await last.at.served.close();
  const text = await storedText(store, sessionId);
  assert.equal(said(updates), text, `seed ${seed}`);
  await made.close();
  assert.deepEqual([running, [...claimed], gates.size], [0, [], 0], `seed ${seed}`);
  return errors;
}

test(`H18 ${seeds} random lives of a session among clients: one handler at a time, one claim, and no word lost`, {
  timeout: 300_000,
}, async () => {
  const errors: string[] = [];
  for (let seed = 1; seed <= seeds; seed++) errors.push(...(await play(seed)));
  assert.deepEqual(errors, []);
});
