// The part of the contract suite for session stores that is about several stores on the same data.

import type { ContractAssert } from "./runner.ts";
import {
  collect,
  createdWith,
  entriesFrom,
  idsOf,
  promptAt,
  promptsFrom,
  type RegisterSharedTest,
  reasonOf,
  recordIn,
  recordOf,
  writerOf,
} from "./store-samples.ts";

export function shared(promise: RegisterSharedTest, assert: ContractAssert): void {
  promise("a session that another store holds can be read, and cannot be claimed", async (one, other) => {
    await createdWith(one, "a", promptsFrom(1, 3));
    assert.equal(await reasonOf(other.claim("a")), "session_held");
    assert.equal(await reasonOf(other.delete("a")), "session_held");
    assert.equal(await reasonOf(other.create(recordOf("a"))), "session_exists");
    assert.deepEqual(await collect(other, "a"), promptsFrom(1, 3));
    assert.deepEqual(await other.get("a"), await one.get("a"));
    assert.deepEqual(await idsOf(other), ["a"]);
    await other.patch("a", { title: "t" });
    assert.equal((await recordIn(one, "a"))?.title, "t");
  });

  promise(
    "a holder is fenced by a claim of another store, and its later appends are not stored",
    async (one, other) => {
      const first = await createdWith(one, "a", [promptAt(1)]);
      const second = writerOf(other, await other.claim("a", { takeOver: true }));
      const results = await Promise.all([
        reasonOf(first.append([promptAt(2, "late")])),
        second.append([promptAt(2)]),
      ]);
      assert.deepEqual(results, ["fenced", undefined]);
      assert.equal(await reasonOf(one.renew(first.claim, 1_000)), "fenced");
      await one.release(first.claim);
      await second.append([promptAt(3)]);
      assert.deepEqual(await collect(one, "a"), promptsFrom(1, 3));
    },
  );

  promise(
    "a store that is closed releases its claims, but not those that another store took over",
    async (one, other) => {
      await createdWith(other, "a", [promptAt(1)]);
      await createdWith(other, "b");
      const taken = await one.claim("b", { takeOver: true });
      await other.close();
      await writerOf(one, await one.claim("a")).append([promptAt(2)]);
      await writerOf(one, taken).append([promptAt(1)]);
    },
  );

  promise("an append of another store does not count as a repetition of ours", async (one, other) => {
    const first = await createdWith(one, "a", [promptAt(1)]);
    await writerOf(other, first.claim).append([promptAt(2, "theirs")]);
    assert.equal(await reasonOf(first.append([promptAt(2, "ours")])), "out_of_sequence");
    await first.append([promptAt(2, "theirs")]);
    assert.equal((await collect(one, "a")).length, 2);
  });

  promise("followers get the entries that another store appends, in order and once", async (one, other) => {
    const writer = await createdWith(one, "a", promptsFrom(1, 200));
    const events = other.tail("a")[Symbol.asyncIterator]();
    const reading = entriesFrom(events, 500);
    for (let seq = 201; seq <= 500; seq += 3) await writer.append(promptsFrom(seq, 3));
    assert.deepEqual((await reading).entries.slice(0, 500), promptsFrom(1, 500));
    const deleted = events.next();
    await one.delete("a", writer.claim);
    assert.deepEqual((await deleted).value, { kind: "deleted" });
  });

  promise("a cursor of one store can be used in another", async (one, other) => {
    const writer = await createdWith(one, "a", promptsFrom(1, 5));
    const { cursor } = await entriesFrom(one.tail("a")[Symbol.asyncIterator](), 5);
    const next = other.tail("a", cursor)[Symbol.asyncIterator]().next();
    await writer.append([promptAt(6)]);
    const { value } = await next;
    assert.deepEqual(value?.kind === "entries" ? value.entries : value, [promptAt(6)]);
  });

  promise("a command reaches the holder in another store, and its outcome comes back", async (one, other) => {
    const writer = await createdWith(one, "a");
    const coming = one.commands("a")[Symbol.asyncIterator]().next();
    const sent = await other.submit("a", { key: "k", body: { prompt: "go" } });
    assert.deepEqual((await coming).value, [sent]);
    await writer.append([promptAt(1)], { settles: [{ number: sent.number, outcome: "done" }] });
    const again = await other.submit("a", { key: "k", body: { prompt: "go" } });
    assert.equal(again.outcome, "done");
    const twice = await Promise.all([
      one.submit("a", { key: "same", body: 1 }),
      other.submit("a", { key: "same", body: 1 }),
    ]);
    assert.equal(twice[0].number, twice[1].number);
  });

  promise(
    "changes of another store are hinted, and how far somebody has read is shared",
    async (one, other) => {
      const writer = await createdWith(one, "a", [promptAt(1)]);
      const hints = other.changes()[Symbol.asyncIterator]();
      const hint = hints.next();
      await writer.append([promptAt(2)]);
      assert.deepEqual((await hint).value, ["a"]);
      await one.seen("a", "ada", 2);
      assert.equal(await other.seen("a", "ada"), 2);
      await hints.return?.();
    },
  );
}
