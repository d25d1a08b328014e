// The part of the contract suite for session stores that is about claims and forks.

import type { ContractAssert } from "./runner.ts";
import {
  collect,
  createdWith,
  idsOf,
  promptAt,
  promptsFrom,
  type RegisterStoreTest,
  reasonOf,
  recordIn,
  recordOf,
  writerOf,
} from "./store-samples.ts";

const hour = 3_600_000;

export function claims(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("a session that somebody holds cannot be claimed, not even in the same process", async (store) => {
    const { append } = await createdWith(store, "a");
    assert.equal(await reasonOf(store.claim("a")), "session_held");
    assert.equal(await reasonOf(store.claim("a", { leaseMs: hour })), "session_held");
    await append([promptAt(1)]);
  });

  promise("an unknown session cannot be claimed or renewed, and releasing it does nothing", async (store) => {
    const nobody = { sessionId: "nobody", epoch: 1 };
    await assert.rejects(store.claim("nobody"), { kind: "session_not_found" });
    await assert.rejects(store.claim("nobody", { takeOver: true }), { kind: "session_not_found" });
    await assert.rejects(store.renew(nobody, hour), { kind: "session_not_found" });
    await store.release(nobody);
  });

  promise("a holder from whom the session was taken stores nothing more", async (store) => {
    const first = await createdWith(store, "a", [promptAt(1)]);
    const second = writerOf(store, await store.claim("a", { takeOver: true }));
    assert.ok(second.claim.epoch > first.claim.epoch);
    const options = { state: { seq: 2, settledSeq: 0, prompts: [], questions: [], config: {} }, position: 3 };
    assert.equal(await reasonOf(first.append([promptAt(2)], options)), "fenced");
    assert.equal(await reasonOf(first.append([promptAt(1)])), "fenced");
    assert.equal(await reasonOf(store.renew(first.claim, hour)), "fenced");
    assert.equal(await reasonOf(store.delete("a", first.claim)), "session_held");
    await store.release(first.claim);
    assert.equal(
      await reasonOf(store.claim("a")),
      "session_held",
      "the release of a fenced claim ends nothing",
    );
    const { head } = (await store.get("a")) ?? {};
    assert.deepEqual(
      [head?.lastSeq, head?.state, head?.position, head?.epoch],
      [1, undefined, undefined, second.claim.epoch],
    );
    await second.append([promptAt(2)]);
    assert.deepEqual(await collect(store, "a"), promptsFrom(1, 2));
  });

  promise("a claim that was released takes no more entries", async (store) => {
    const first = await createdWith(store, "a", [promptAt(1)]);
    await store.release(first.claim);
    await store.release(first.claim);
    assert.equal(await reasonOf(first.append([promptAt(2)])), "fenced");
    assert.equal(await reasonOf(store.renew(first.claim, hour)), "fenced");
    const second = writerOf(store, await store.claim("a"));
    assert.equal(await reasonOf(first.append([promptAt(2)])), "fenced");
    await second.append([promptAt(2)]);
    assert.equal((await collect(store, "a")).length, 2);
  });

  promise("each claim has a higher epoch than all before it", async (store) => {
    let last = (await createdWith(store, "a")).claim;
    for (let round = 0; round < 5; round++) {
      if (round % 2 === 0) await store.release(last);
      const next = await store.claim("a", { takeOver: true });
      assert.ok(next.epoch > last.epoch, `${next.epoch} after ${last.epoch}`);
      if (round === 3) await writerOf(store, next).append([promptAt(1)]);
      last = next;
    }
    assert.equal((await store.get("a"))?.head.epoch, last.epoch);
  });

  promise("a lease that has not ended keeps the session, and can be renewed", async (store) => {
    const claim = await store.create(recordOf("a"), { leaseMs: hour });
    assert.equal(await reasonOf(store.claim("a")), "session_held");
    const renewed = await store.renew(claim, 2 * hour);
    assert.ok((renewed.until ?? 0) > (claim.until ?? 0));
    assert.equal(renewed.epoch, claim.epoch);
    assert.equal(await reasonOf(store.claim("a")), "session_held");
    await writerOf(store, renewed).append([promptAt(1)]);
    await writerOf(store, claim).append([promptAt(2)]);
  });

  promise(
    "a session whose lease has ended can be claimed, but its holder can write until then",
    async (store) => {
      const ended = writerOf(store, await store.create(recordOf("a"), { leaseMs: 0 }));
      await ended.append([promptAt(1)]);
      const renewed = await store.renew(ended.claim, hour);
      assert.equal(await reasonOf(store.claim("a")), "session_held");
      await store.renew(renewed, 0);
      const next = writerOf(store, await store.claim("a", { leaseMs: hour }));
      assert.equal(await reasonOf(ended.append([promptAt(2)])), "fenced");
      assert.equal(await reasonOf(store.renew(ended.claim, hour)), "fenced");
      await next.append([promptAt(2)]);
    },
  );

  promise("a session that somebody else holds cannot be deleted", async (store) => {
    const { claim } = await createdWith(store, "a");
    assert.equal(await reasonOf(store.delete("a")), "session_held");
    assert.equal(await reasonOf(store.delete("a", { ...claim, epoch: claim.epoch + 1 })), "session_held");
    assert.deepEqual(await idsOf(store), ["a"]);
    await store.delete("a", claim);
    assert.deepEqual(await idsOf(store), []);
    const second = await createdWith(store, "a");
    await store.release(second.claim);
    await store.delete("a");
    assert.deepEqual(await idsOf(store), []);
  });

  promise("a session that nobody holds can be read, changed, forked and deleted", async (store) => {
    const { claim } = await createdWith(store, "a", [promptAt(1)]);
    await store.release(claim);
    await store.patch("a", { title: "t" });
    assert.equal((await store.get("a"))?.title, "t");
    await store.fork("a", recordOf("b"));
    assert.equal((await collect(store, "a")).length, 1);
    await store.delete("a");
    assert.deepEqual(await idsOf(store), ["b"]);
  });

  promise("a claim of a deleted session is not valid for a new session with the same id", async (store) => {
    const first = await createdWith(store, "a");
    await store.release(first.claim);
    await store.delete("a");
    await assert.rejects(first.append([promptAt(1)]), { kind: "session_not_found" });
    await createdWith(store, "a");
    assert.equal(await reasonOf(first.append([promptAt(1)])), "fenced");
    assert.equal(await reasonOf(store.delete("a", first.claim)), "session_held");
  });
}

export function forks(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("a fork needs a source and an id of its own", async (store) => {
    await store.create(recordOf("a"));
    await assert.rejects(store.fork("nobody", recordOf("b")), { kind: "session_not_found" });
    assert.equal(await reasonOf(store.fork("a", recordOf("a"))), "session_exists");
    assert.deepEqual(await idsOf(store), ["a"]);
  });

  promise(
    "a fork begins with the entries and the config of its source, and both then continue independently",
    async (store) => {
      const config = { model: "large", mode: "code" };
      const a = await createdWith(store, "a", promptsFrom(1, 3), { config, title: "source" });
      const b = writerOf(store, await store.fork("a", recordOf("b", { config: { mode: "ask" } })));
      assert.deepEqual(
        await recordIn(store, "b"),
        recordOf("b", { config: { model: "large", mode: "ask" } }),
      );
      assert.equal(await reasonOf(store.claim("b")), "session_held");
      await a.append([promptAt(4, "in a")]);
      await b.append([promptAt(4, "in b"), promptAt(5)]);
      assert.deepEqual(await collect(store, "a"), [...promptsFrom(1, 3), promptAt(4, "in a")]);
      assert.deepEqual(await collect(store, "b"), [...promptsFrom(1, 3), promptAt(4, "in b"), promptAt(5)]);
      assert.deepEqual(await collect(store, "b", 3), [promptAt(3), promptAt(4, "in b"), promptAt(5)]);
    },
  );

  promise("a fork at an entry has no later entries of its source", async (store) => {
    const covering = { ...promptAt(3), through: 5 };
    const a = await createdWith(store, "a", [...promptsFrom(1, 2), covering, promptAt(6)]);
    const ends = [0, 1, 2, 2, 2, 5, 6, 6];
    for (const [atSeq, end] of ends.entries()) {
      const fork = writerOf(store, await store.fork("a", recordOf(`at ${atSeq}`), { atSeq }));
      assert.equal((await store.get(`at ${atSeq}`))?.head.lastSeq, end, `at ${atSeq}`);
      await fork.append([promptAt(end + 1, "own")]);
      const all = [...promptsFrom(1, 2), covering, promptAt(6)].filter(({ seq }) => seq <= end);
      assert.deepEqual(await collect(store, `at ${atSeq}`), [...all, promptAt(end + 1, "own")]);
    }
    await store.fork("at 2", recordOf("of a fork"), { atSeq: 1 });
    await store.delete("a", a.claim);
    assert.deepEqual(await collect(store, "of a fork"), promptsFrom(1, 1));
    assert.deepEqual(await collect(store, "at 1"), [promptAt(1), promptAt(2, "own")]);
  });

  promise(
    "a fork of all entries begins with the state of its source, and a fork of some entries with nothing open",
    async (store) => {
      const state = { seq: 3, settledSeq: 3, prompts: [], questions: [], config: {}, title: "t" };
      const a = await createdWith(store, "a");
      await a.append(promptsFrom(1, 3), { state, position: 7 });
      await store.fork("a", recordOf("b"));
      await store.fork("a", recordOf("c"), { atSeq: 2 });
      const [b, c] = [await store.get("b"), await store.get("c")];
      assert.deepEqual([b?.head.state, b?.head.position], [state, undefined]);
      const none = { seq: 0, settledSeq: 0, prompts: [], questions: [], config: {}, forkedAt: 2 };
      assert.deepEqual([c?.head.state, c?.head.lastSeq], [none, 2]);
    },
  );

  promise("a fork of a running session begins with nothing open", async (store) => {
    const title = "t";
    const settled = { seq: 3, settledSeq: 1, prompts: [], questions: [], config: { mode: "ask" }, title };
    const a = await createdWith(store, "a");
    const prompts = [{ messageId: "m", text: "go", seq: 2 }];
    const questions = [{ askId: "q", title: "Delete it?", seq: 3 }];
    const state = { ...settled, prompts, questions, isBusy: true as const };
    await a.append(promptsFrom(1, 3), { state });
    await store.fork("a", recordOf("b"));
    assert.deepEqual((await store.get("b"))?.head.state, settled);
    assert.deepEqual((await store.get("a"))?.head.state, state);
  });

  promise(
    "forks of forks keep their history when what they came from is deleted, in any order",
    async (store) => {
      const orders = [
        ["a", "b", "c"],
        ["c", "b", "a"],
        ["b", "a", "c"],
        ["b", "c", "a"],
      ];
      for (const order of orders) {
        const a = await createdWith(store, "a", promptsFrom(1, 2));
        const b = writerOf(store, await store.fork("a", recordOf("b")));
        const c = writerOf(store, await store.fork("b", recordOf("c")));
        await a.append([promptAt(3, "only a")]);
        await b.append([promptAt(3, "b")]);
        await c.append([promptAt(3, "c")]);
        const d = writerOf(store, await store.fork("b", recordOf("d")));
        await d.append([promptAt(4, "d")]);
        const kept = [...promptsFrom(1, 2), promptAt(3, "b"), promptAt(4, "d")];
        for (const id of order) {
          await store.delete(id, { a, b, c }[id]?.claim);
          assert.deepEqual(await collect(store, "d"), kept);
        }
        assert.deepEqual(await idsOf(store), ["d"]);
        await store.delete("d", d.claim);
      }
    },
  );
}
