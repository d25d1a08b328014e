// Random traffic both ways through proxies that hold messages at random: nothing is lost, reordered or answered twice.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type AcpProxy, proxy } from "../../src/proxy.ts";
import { Random } from "../support/random.ts";
import type { RawLinePeer, Wire } from "../support/raw-line-peer.ts";
import { newSession, opened } from "./chained.ts";

const sessions = ["s", "t", "u"];
const peers = ["client", "agent"] as const;
const rounds = 12;
const steps = 300;

/** A promise that settles a random number of microtasks, or a turn of the event loop, later. */
async function aWhile(random: Random): Promise<undefined> {
  if (random.chance(0.1)) await new Promise(setImmediate);
  for (let left = random.below(8); left > 0; left--) await undefined;
  return undefined;
}

/** Holds, and fails, at random what passes. */
function moody(name: string, random: Random): AcpProxy {
  const mood = (): Promise<undefined> | undefined => {
    if (random.chance(0.2)) throw new Error("a bad mood");
    if (random.chance(0.5)) return undefined;
    return aWhile(random).then(() => {
      if (random.chance(0.1)) throw new Error("a bad mood, late");
      return undefined;
    });
  };
  return proxy({
    name,
    version: "1",
    messages: { "_acme/ask": mood, "_acme/tell": mood },
    results: { "_acme/ask": mood },
  });
}

interface Asked {
  readonly by: "client" | "agent";
  readonly isCancelled: boolean;
}

/** What each side got of a session, in order: notifications and answers. */
type Order = Record<string, string[]>;

async function traffic(seed: number, proxies: number): Promise<void> {
  const random = new Random(seed);
  const parts = Array.from({ length: proxies }, (_, i) => moody(`p${i}`, random));
  const { client, agent, chain } = await opened(parts);
  for (const sessionId of sessions.slice(1)) await newSession(client, agent, sessionId);
  const at: Record<"client" | "agent", RawLinePeer> = { client, agent };
  const seen = { client: client.got.length, agent: agent.got.length };
  const asked = new Map<string, Asked>();
  const sent: Record<string, Order> = { client: {}, agent: {} };
  const owed: Record<string, Wire[]> = { client: [], agent: [] };
  const unread = { ...seen };

  /** Takes the requests that have come, to answer them some time. */
  const read = (): void => {
    for (const side of peers) {
      const { got } = at[side];
      for (; unread[side] < got.length; unread[side]++) {
        const message = got[unread[side]] as Wire;
        if (message.method === "_acme/ask") owed[side]?.push(message);
      }
    }
  };
  const answerOne = (side: "client" | "agent"): void => {
    const list = owed[side] ?? [];
    const [message] = list.splice(random.below(list.length || 1), 1);
    if (message === undefined) return;
    const { sessionId, n } = message.params as { sessionId: string; n: number };
    at[side].answer(message, { n });
    // what an answer must not overtake is what was sent before it
    note(side, sessionId, `answer ${n}`);
  };
  const note = (side: string, sessionId: string, what: string): void => {
    const order = sent[side] as Order;
    order[sessionId] ??= [];
    order[sessionId].push(what);
  };

  for (let n = 0; n < steps; n++) {
    const side = random.pick(peers);
    const sessionId = random.pick(sessions);
    const id = `${side} ${n}`;
    if (random.chance(0.3)) {
      const isCancelled = random.chance(0.2);
      asked.set(id, { by: side, isCancelled });
      at[side].request(id, "_acme/ask", { sessionId, n });
      if (isCancelled) at[side].notify("$/cancel_request", { requestId: id });
    } else {
      at[side].notify("_acme/tell", { sessionId, n });
      note(side, sessionId, `tell ${n}`);
    }
    if (random.chance(0.3)) await aWhile(random);
    read();
    if (random.chance(0.5)) answerOne(random.pick(peers));
  }
  /** Whether every request has been answered. */
  const isDone = (): boolean =>
    [...asked].every(([id, { by }]) =>
      at[by].got.some((each) => each.id === id && each.method === undefined),
    );
  const tells = (side: "client" | "agent") => at[side].got.filter(({ method }) => method === "_acme/tell");
  const told = peers.flatMap((side) => Object.values(sent[side] ?? {}).flat());
  const count = told.filter((what) => what.startsWith("tell")).length;
  for (let turns = 0; !isDone() || tells("client").length + tells("agent").length < count; turns++) {
    assert.ok(turns < 10_000, "something is lost");
    read();
    for (const side of peers) answerOne(side);
    await new Promise(setImmediate);
  }
  await chain.close();

  for (const [id, { by, isCancelled }] of asked) {
    const answers = at[by].got.filter((each) => each.id === id && each.method === undefined);
    assert.equal(answers.length, 1, `${id} has one answer`);
    const [{ error, result } = {} as Wire] = answers;
    if (error === undefined) assert.equal(result?.["n"], Number(id.split(" ")[1]));
    else assert.ok(isCancelled && error.code === -32800, `${id}: ${error.message}`);
  }
  for (const side of peers) {
    const to = side === "client" ? "agent" : "client";
    for (const sessionId of sessions) {
      const order = sent[side]?.[sessionId] ?? [];
      const got = at[to].got.slice(seen[to]).flatMap((message) => arrived(message, sessionId, order));
      const all = new Set(got);
      // a cancelled request may be answered by a proxy, in place of the answer that was sent
      const expected = order.filter((what) => what.startsWith("tell") || all.has(what));
      assert.deepEqual(
        got.filter((what) => what.startsWith("tell")),
        expected.filter((what) => what.startsWith("tell")),
        `${side} > ${to}, ${sessionId}`,
      );
      for (const [i, what] of got.entries()) {
        if (!what.startsWith("answer")) continue;
        const before = order.slice(0, order.indexOf(what)).filter((each) => each.startsWith("tell"));
        const missing = before.filter((each) => !got.slice(0, i).includes(each));
        assert.deepEqual(
          missing,
          [],
          `${side} > ${to}, ${sessionId}: ${what} overtook what was sent before it`,
        );
      }
    }
  }
}

/** Notifications of the session, and answers to requests that named it, by what their sender noted. */
function arrived({ method, params, result }: Wire, sessionId: string, order: readonly string[]): string[] {
  if (method === "_acme/tell") return params?.["sessionId"] === sessionId ? [`tell ${params["n"]}`] : [];
  const answer = `answer ${result?.["n"]}`;
  return method === undefined && order.includes(answer) ? [answer] : [];
}

for (const proxies of [0, 1, 2, 3]) {
  test(`random traffic through ${proxies} proxies with random holds: one answer each, no loss, no reordering (P13, P14)`, async () => {
    for (let round = 0; round < rounds; round++) {
      const seed = 1000 * proxies + round;
      await traffic(seed, proxies).catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error });
      });
    }
  });
}
