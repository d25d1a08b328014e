// The seam between a host and its conversations: commands with keys, cursors, and readers that are slow.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Entry } from "@parley/acp";
import type { AgentScenario } from "@parley/conformance/testing";
import { cutLink } from "../../test/support/cut-link.ts";
import { follow, hosted } from "../../test/support/host-probe.ts";
import { patience } from "../../test/support/managed-probe.ts";
import type { SessionLink, Tail, TailEvent } from "../conversation.ts";

const play = (scenario: object) => ({ play: scenario as Partial<AgentScenario> });
const heard = play({ otherwise: [{ say: "heard {{prompt}}" }] });

/** A tail with everything that it has reported. */
function reader(link: SessionLink, cursor?: string) {
  const events: TailEvent[] = [];
  let wake = () => {};
  const tail: Tail = link.tail(cursor, (event) => {
    events.push(event);
    wake();
  });
  const entries = (): readonly Entry[] =>
    events.flatMap((event) => (event.kind === "entries" ? event.entries : []));
  return {
    events,
    tail,
    entries,
    seqs: () => entries().map(({ seq }) => seq),
    cursor: () => events.flatMap((event) => ("cursor" in event ? [event.cursor] : [])).at(-1),
    async until(isTrue: () => boolean): Promise<void> {
      while (!isTrue()) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

test(
  "a command that is sent twice with its key is carried out once; with another content it is a conflict",
  patience,
  async (t) => {
    const { host } = hosted(t, [heard]);
    const link = host.open();
    const one = follow(link);
    const prompt = { kind: "prompt", key: randomUUID(), input: { text: "one" } } as const;
    const outcomes = await Promise.all([
      link.submit(prompt),
      link.submit({ ...prompt }),
      link.submit(prompt),
    ]);
    assert.deepEqual(outcomes, [{}, {}, {}]);
    await one.ended(1);
    await link.submit(prompt);
    const conflict = { kind: "conflict", message: /was used for another command/ };
    await assert.rejects(link.submit({ ...prompt, input: { text: "other" } }), conflict);
    await assert.rejects(link.submit({ kind: "cancel", key: prompt.key }), conflict);
    await one.ask("two");
    assert.deepEqual(one.shown(), ["user: one", "agent: heard one", "user: two", "agent: heard two"]);
  },
);

test("a command that fails, fails again with its key", patience, async (t) => {
  const { host } = hosted(t, [heard]);
  const link = host.open();
  const configure = { kind: "configure", key: "k", configId: "model", value: "x" } as const;
  await assert.rejects(link.submit(configure), /has not been started yet/);
  await follow(link).ask("one");
  await assert.rejects(link.submit(configure), /has not been started yet/);
});

test(
  "a tail goes on from its cursor: every entry once, in order, whenever it was cut",
  patience,
  async (t) => {
    const { host } = hosted(t, [heard]);
    const link = host.open();
    const one = follow(link);
    await one.ask("one");
    const whole = reader(link);
    const first = reader(link);
    first.tail.stop();
    await one.ask("two");
    const second = reader(link, first.cursor());
    await one.ask("three");
    assert.deepEqual([...first.seqs(), ...second.seqs()], whole.seqs());
    assert.deepEqual(
      whole.seqs(),
      whole.seqs().map((_, at) => at + 1),
    );
    // a cursor does not wear out
    assert.deepEqual(reader(link, first.cursor()).seqs(), second.seqs());
    assert.ok(!second.events.some(({ kind }) => kind === "reset"));
  },
);

test(
  "a cursor of another host, of the future or of nobody gives a reset and everything that is kept",
  patience,
  async (t) => {
    const { host, another } = hosted(t, [heard]);
    const link = host.open();
    const other = another().open();
    await Promise.all([follow(link).ask("one"), follow(other).ask("one")]);
    const all = reader(link);
    const [name = "", , past] = all.cursor()?.split("/") ?? [];
    for (const cursor of [reader(other).cursor(), `${name}/999/${past}`, "anything", `${name}/x/y`]) {
      const { events, seqs } = reader(link, cursor);
      assert.equal(events[0]?.kind, "reset", cursor);
      assert.deepEqual(seqs(), all.seqs(), cursor);
      assert.equal(events.filter(({ kind }) => kind === "reset").length, 1);
    }
    // the empty cursor is as old as the session
    assert.deepEqual(reader(link, "").seqs(), all.seqs());
  },
);

test(
  "a cursor too far back gives a reset and what is kept, and a conversation shows that alone",
  patience,
  async (t) => {
    const { host } = hosted(t, [play({ otherwise: [{ say: "x", size: 2_000 }] })], { keptChars: 20_000 });
    const link = host.open();
    const one = follow(link);
    await one.ask("first");
    const early = reader(link);
    early.tail.stop();
    for (let at = 0; at < 20; at += 1) await one.ask(`prompt ${at}`);
    const { events, seqs } = reader(link, early.cursor());
    assert.equal(events[0]?.kind, "reset");
    assert.ok((seqs()[0] ?? 0) > (early.seqs().at(-1) ?? 0), "the first entries are not kept");
    assert.deepEqual(
      seqs(),
      seqs().map((_, at) => (seqs()[0] ?? 0) + at),
      "no gap",
    );
    const late = follow(link);
    assert.equal(late.shown().at(-2), "user: prompt 19");
    assert.ok(!late.shown().includes("user: first"));
    assert.ok(one.shown().includes("user: first"));
  },
);

test(
  "a reader that is behind holds the agent, and one that says no more is not waited for",
  patience,
  async (t) => {
    // far more than a pipe takes
    const flood = [{ say: "x", size: 1_000, times: 5_000 }, { say: "end" }];
    const { host } = hosted(t, [
      play({ editions: ["v1"], turns: [{ when: "flood", steps: flood }], otherwise: [] }),
    ]);
    const link = host.open();
    const one = follow(link);
    await one.ask("ready");
    const slow = reader(link);
    const held = Promise.withResolvers<void>();
    let times = 0;
    const repeat = setInterval(() => {
      times += 1;
      // it ends by itself now
      if (times === 20) held.resolve();
      else slow.tail.hold(true);
    }, 100);
    t.after(() => clearInterval(repeat));
    slow.tail.hold(true);
    one.conversation.send({ text: "flood" });
    await held.promise;
    clearInterval(repeat);
    const read = slow.seqs().length;
    assert.ok(read < 2_500, `${read} entries were read`);
    assert.notEqual(one.conversation.turn, undefined);
    await one.ended(2);
    assert.match(one.shown().at(-1) ?? "", /end$/);
  },
);

test(
  "a conversation over a link that is cut at random shows the same, and sends nothing twice",
  patience,
  async (t) => {
    const { host } = hosted(t, [heard]);
    const link = host.open();
    const near = follow(link);
    let cuts = 0;
    const far = follow(cutLink(link, { seed: 32, oneOf: 5, onCut: () => cuts++ }));
    for (let at = 1; at <= 20; at += 1) {
      far.conversation.send({ text: `prompt ${at}` });
      await far.until(() => far.turns.length === at);
    }
    await far.until(() => far.shown().length === near.shown().length);
    assert.deepEqual(far.shown(), near.shown());
    assert.equal(near.shown().filter((line) => line.startsWith("user")).length, 20);
    assert.equal(near.turns.length, 20);
    assert.ok(cuts > 10, `${cuts} cuts`);
  },
);
