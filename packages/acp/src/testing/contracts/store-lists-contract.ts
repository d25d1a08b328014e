// The part of the contract suite for session stores that is about lists.

import type { Claim } from "../../model/store.ts";
import type { ContractAssert } from "./runner.ts";
import { createdWith, idsOf, promptAt, type RegisterStoreTest, recordIn, recordOf } from "./store-samples.ts";

export function lists(promise: RegisterStoreTest, assert: ContractAssert): void {
  promise("sessions are listed most recently updated first", async (store) => {
    await store.create(recordOf("old", { updatedAt: 1 }));
    await store.create(recordOf("new", { updatedAt: 3 }));
    await store.create(recordOf("middle", { updatedAt: 2.5 }));
    assert.deepEqual(await idsOf(store), ["new", "middle", "old"]);
    await store.patch("old", { updatedAt: 4 });
    assert.deepEqual(await idsOf(store), ["old", "new", "middle"]);
    assert.deepEqual((await store.list()).sessions[1], await store.get("new"));
  });

  promise("pages cover every session once, also where times are equal", async (store) => {
    const ids = Array.from({ length: 23 }, (_, n) => `s${String(n).padStart(2, "0")}`);
    await Promise.all(
      ids.map((id, n) => store.create(recordOf(id, { updatedAt: n < 12 ? 5 : 5 + (n % 3) }))),
    );
    for (const limit of [1, 2, 7, 22, 23, 24]) {
      assert.deepEqual((await idsOf(store, { limit })).sort(), ids, `limit ${limit}`);
    }
  });

  promise("sessions that appear between two pages do not move the second", async (store) => {
    let thirdClaim: Claim | undefined;
    for (const [id, updatedAt] of Object.entries({ a: 1, b: 2, c: 3, d: 4 })) {
      const claim = await store.create(recordOf(id, { updatedAt }));
      if (id === "c") thirdClaim = claim;
    }
    const first = await store.list({ limit: 2 });
    if (first.nextCursor === undefined) throw new Error("the first page has no cursor for the next");
    await store.create(recordOf("newest", { updatedAt: 9 }));
    await store.delete("c", thirdClaim);
    const second = await store.list({ limit: 2, cursor: first.nextCursor });
    assert.deepEqual(
      second.sessions.map(({ sessionId }) => sessionId),
      ["b", "a"],
    );
    assert.equal(second.nextCursor, undefined);
  });

  promise("a list can be limited to one working directory", async (store) => {
    await store.create(recordOf("a", { cwd: "/one" }));
    await store.create(recordOf("b", { cwd: "/two" }));
    await store.create(recordOf("c", { cwd: "/one" }));
    assert.deepEqual(await idsOf(store, { cwd: "/one", limit: 1 }), ["c", "a"]);
    assert.deepEqual(await idsOf(store, { cwd: "/three" }), []);
    await store.patch("b", { cwd: "/one" });
    assert.deepEqual(await idsOf(store, { cwd: "/one" }), ["c", "b", "a"]);
  });

  promise("a working directory is the same however it is written", async (store) => {
    await store.create(recordOf("a", { cwd: "/one/" }));
    await store.create(recordOf("b", { cwd: "/one/./x" }));
    await store.create(recordOf("c", { cwd: "/two" }));
    await store.patch("c", { cwd: "/one/y/.." });
    for (const cwd of ["/one", "/one/", "/two/../one"])
      assert.deepEqual(await idsOf(store, { cwd, limit: 1 }), ["c", "a"], cwd);
    assert.deepEqual(await idsOf(store, { cwd: "/one/x" }), ["b"]);
    assert.equal((await store.get("a"))?.cwd, "/one/", "it is returned as it was given");
    const { nextCursor = "" } = await store.list({ cwd: "/one", limit: 1 });
    assert.equal((await store.list({ cwd: "/one/", cursor: nextCursor })).sessions.length, 1);
  });

  promise(
    "archived sessions are left out of lists, unless a list asks for them or for all",
    async (store) => {
      const ids = (archived?: "exclude" | "include" | "only") => idsOf(store, { limit: 1, archived });
      for (const id of ["a", "b", "c"]) await store.create(recordOf(id));
      await store.create(recordOf("d", { archived: true }));
      await store.patch("b", { archived: true });
      assert.deepEqual(
        [await ids(), await ids("exclude")],
        [
          ["c", "a"],
          ["c", "a"],
        ],
      );
      assert.deepEqual(
        [await ids("include"), await ids("only")],
        [
          ["d", "c", "b", "a"],
          ["d", "b"],
        ],
      );
      assert.deepEqual(await recordIn(store, "b"), recordOf("b", { archived: true }));
      const { nextCursor = "" } = await store.list({ limit: 1, archived: "only" });
      await assert.rejects(store.list({ cursor: nextCursor, archived: "include" }), {
        kind: "invalid_params",
      });
      await store.patch("b", { archived: false });
      assert.deepEqual([await ids(), await ids("only")], [["c", "b", "a"], ["d"]]);
    },
  );

  promise("a cursor that is not ours is refused", async (store) => {
    for (const id of ["a", "b", "c"]) await store.create(recordOf(id));
    const { nextCursor = "" } = await store.list({ limit: 1 });
    const changed = nextCursor.slice(0, -1) + (nextCursor.endsWith("A") ? "B" : "A");
    for (const cursor of ["", "2", "%%%", "e30", `${nextCursor}x`, nextCursor.slice(2), changed, "\ud800"]) {
      await assert.rejects(store.list({ cursor }), { kind: "invalid_params" }, JSON.stringify(cursor));
    }
    await assert.rejects(store.list({ cursor: nextCursor, cwd: "/project" }), { kind: "invalid_params" });
    assert.equal((await store.list({ cursor: nextCursor })).sessions.length, 2);
  });

  promise("sessions of others are not listed among those of a principal", async (store) => {
    await createdWith(store, "a", [], { principal: "ada" });
    await createdWith(store, "b", [], { principal: "ben" });
    await createdWith(store, "c");
    await createdWith(store, "d", [], { principal: "ada" });
    assert.deepEqual(await idsOf(store, { principal: "ada", limit: 1 }), ["d", "a"]);
    assert.deepEqual(await idsOf(store, { principal: "somebody" }), []);
    assert.deepEqual(await idsOf(store, { principal: null }), ["c"]);
    assert.deepEqual(await idsOf(store), ["d", "c", "b", "a"]);
    const { nextCursor = "" } = await store.list({ principal: "ada", limit: 1 });
    await assert.rejects(store.list({ principal: null, cursor: nextCursor }), { kind: "invalid_params" });
  });

  promise("sessions of other agents are not listed among those of an agent", async (store) => {
    await createdWith(store, "a", [], { agent: "one", agentSessionId: "1" });
    await createdWith(store, "b", [], { agent: "two", agentSessionId: "1", cwd: "/elsewhere" });
    await createdWith(store, "c", [], { agent: "one" });
    await createdWith(store, "d");
    assert.deepEqual(await idsOf(store, { agent: "one", limit: 1 }), ["c", "a"]);
    assert.deepEqual(await idsOf(store, { agent: "two", cwd: "/project" }), []);
    assert.deepEqual(await idsOf(store, { agent: "three" }), []);
  });

  promise("sessions without the words are not listed by text", async (store) => {
    await createdWith(store, "a", [promptAt(1, "Fix the Café parser"), promptAt(2, "and then the lexer")]);
    await createdWith(store, "b", [promptAt(1, "the parser is fine")]);
    await createdWith(store, "c", [promptAt(1, "nothing of this")]);
    const ids = (text: string) => idsOf(store, { text, limit: 1 });
    assert.deepEqual(await ids("absent"), []);
    assert.deepEqual(await ids("fine lexer"), [], "the words of one message");
    assert.deepEqual(await ids(""), []);
    assert.deepEqual(await ids("parser"), ["b", "a"]);
    assert.deepEqual(await ids("CAFE pars"), ["a"]);
    assert.deepEqual(await ids('"parser is"'), ["b"]);
    assert.deepEqual(await ids('"is parser"'), []);
    const { sessions } = await store.list({ text: "lexer" });
    assert.deepEqual(sessions[0]?.match, { seq: 2, snippet: "and then the lexer" });
    assert.equal((await store.list()).sessions[0]?.match, undefined);
    const { nextCursor = "" } = await store.list({ text: "parser", limit: 1 });
    await assert.rejects(store.list({ text: "lexer", cursor: nextCursor }), { kind: "invalid_params" });
  });

  promise("a fork is listed by the text that it has from its source, and no more", async (store) => {
    const source = await createdWith(store, "a", [promptAt(1, "shared words"), promptAt(2, "later words")]);
    await store.fork("a", recordOf("b"), { atSeq: 1 });
    await source.append([promptAt(3, "last words")]);
    assert.deepEqual(await idsOf(store, { text: "shared" }), ["b", "a"]);
    assert.deepEqual(await idsOf(store, { text: "later" }), ["a"]);
    const { sessions } = await store.list({ text: "words" });
    assert.deepEqual(
      sessions.map(({ match }) => match?.seq),
      [1, 3],
    );
  });
}
