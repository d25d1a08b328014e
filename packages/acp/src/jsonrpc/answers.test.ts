import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { call, connectedPair, outcomeOf, quiet, withBarePeer } from "../../test/support/connection-probe.ts";
import { setIdPolicy } from "./connection.ts";
import { ConnectionError, RequestError } from "./errors.ts";

interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

const rejected = (error: unknown) => Promise.reject(error);
const thrown = (error: Error) => {
  throw error;
};
const unserialisable: Record<string, () => unknown> = {
  "a BigInt": () => 1n,
  "a promise of a BigInt": () => Promise.resolve({ deep: [1n] }),
  "a cycle": () => cyclic,
  "a promise of a cycle": () => Promise.resolve(cyclic),
  "a function": () => () => 1,
  "a promise of a symbol": () => Promise.resolve(Symbol("x")),
  "an object whose toJSON gives nothing": () => ({ toJSON: () => undefined }),
  "an object whose toJSON throws": () => ({ toJSON: () => thrown(new Error("secret")) }),
};

for (const [what, request] of Object.entries(unserialisable)) {
  test(`a handler that returns ${what} is answered -32603, once (G4, J2)`, async () => {
    const { peer, log } = withBarePeer({ request });
    peer.send(call(1));
    await peer.until(1);
    await quiet();
    const [answer, ...more] = peer.received as Answer[];
    assert.deepEqual(more, []);
    assert.equal(answer?.id, 1);
    assert.equal(answer?.error?.code, -32603);
    assert.equal(log.filter(({ level }) => level === "error").length, 1);
  });
}

const failing: Record<string, () => unknown> = {
  throws: () => thrown(new TypeError("password=hunter2")),
  rejects: () => rejected(new TypeError("password=hunter2")),
  "throws something that is no Error": () => rejected("password=hunter2"),
  "throws a RequestError whose code is no integer": () =>
    thrown(new RequestError("other", "hunter2", { code: Number.NaN })),
};
for (const [what, request] of Object.entries(failing)) {
  test(`a handler that ${what} gives -32603 without its text; the whole error is in the log under the same correlationId (G4)`, async () => {
    const { peer, log } = withBarePeer({ request });
    peer.send(call("a"));
    await peer.until(1);
    await quiet();
    assert.equal(peer.received.length, 1);
    const { error } = peer.received[0] as Answer;
    assert.equal(error?.message, "internal error");
    assert.doesNotMatch(peer.texts.join(""), /hunter2/);
    const { reason, correlationId } = { ...(error?.data as { reason: string; correlationId: string }) };
    assert.equal(reason, "internal_error");
    assert.match(correlationId, /^[a-z0-9]+$/);
    const line = log.find(({ fields }) => fields.correlationId === correlationId);
    assert.match(inspect(line?.fields.error), /hunter2/);
  });
}

test("a RequestError crosses the wire whole: code, message and data (J7)", async () => {
  const [client] = connectedPair(
    {},
    { request: () => rejected(new RequestError("not_found", "no such", { data: { path: "/x" } })) },
  );
  const outcome = await outcomeOf(client.request("read"));
  assert.ok("error" in outcome && outcome.error instanceof RequestError);
  const { code, message, data } = outcome.error;
  assert.deepEqual({ code, message, data }, { code: -32002, message: "no such", data: { path: "/x" } });
});

test("a RequestError whose data cannot be serialised keeps its code and message (G4)", async () => {
  for (const data of [1n, cyclic]) {
    const { peer } = withBarePeer({
      request: () => thrown(new RequestError("not_found", "no such", { data })),
    });
    peer.send(call(1));
    await peer.until(1);
    assert.deepEqual(peer.received, [{ jsonrpc: "2.0", id: 1, error: { code: -32002, message: "no such" } }]);
  }
});

test("a thenable that throws, or settles twice, is answered once (G4)", async () => {
  const thenables = [
    // biome-ignore lint/suspicious/noThenProperty: the subject of the test
    { then: () => thrown(new Error("then")) },
    {
      // biome-ignore lint/suspicious/noThenProperty: the subject of the test
      then(resolve: (value: number) => void, reject: (error: Error) => void) {
        resolve(1);
        resolve(2);
        reject(new Error("late"));
      },
    },
  ];
  const { connection, peer } = withBarePeer({ request: (_method, params) => thenables[params as number] });
  peer.send(call(1, "work", 0));
  peer.send(call(2, "work", 1));
  await peer.until(2);
  await quiet();
  const answers = peer.received as Answer[];
  assert.deepEqual([answers.length, answers[0]?.error?.code, answers[1]?.result], [2, -32603, 1]);
  assert.equal(connection.inFlight, 0);
});

test("a scopeOf that throws does not cost the request its answer (G4)", async () => {
  const { peer } = withBarePeer({
    scopeOf: () => thrown(new Error("params is null")),
    request: () => "fine",
  });
  peer.send(call(1));
  await peer.until(1);
  assert.equal((peer.received[0] as Answer).result, "fine");
});

test("a handler that returns nothing is answered with null, and null and {} are both results (J10)", async () => {
  const [client] = connectedPair({}, { request: (method) => (method === "nothing" ? undefined : {}) });
  assert.equal(await client.request("nothing"), null);
  assert.deepEqual(await client.request("empty"), {});
});

test("params that are left out stay out, and null stays null (J9)", async () => {
  const { connection, peer } = withBarePeer();
  await connection.notify("a");
  await connection.notify("b", null);
  await peer.until(2);
  assert.deepEqual(peer.texts, [
    '{"jsonrpc":"2.0","method":"a"}',
    '{"jsonrpc":"2.0","method":"b","params":null}',
  ]);
});

test("a request that cannot be serialised throws at the call and leaves nothing behind", async () => {
  const { connection, peer } = withBarePeer();
  assert.throws(() => connection.request("bad", 1n), TypeError);
  assert.throws(() => connection.notify("bad", cyclic), TypeError);
  const good = connection.request("good");
  await peer.until(1);
  const { id } = peer.received[0] as Answer;
  peer.send({ jsonrpc: "2.0", id, result: "ok" });
  assert.equal(await good, "ok");
});

const malformed: Record<string, object> = {
  "both a result and an error (N055)": { result: 1, error: { code: 1, message: "x" } },
  "neither a result nor an error (N056)": {},
  "an error without an integer code (N058)": { error: { code: "E", message: "x" } },
};
for (const [what, members] of Object.entries(malformed)) {
  test(`an answer with ${what} rejects its request once, is counted and not answered (J2)`, async () => {
    const { connection, peer } = withBarePeer();
    const answer = outcomeOf(connection.request("work"));
    await peer.until(1);
    peer.send({ jsonrpc: "2.0", id: 1, ...members });
    const outcome = await answer;
    assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
    assert.equal(outcome.error.kind, "protocol");
    assert.equal(connection.counters.refused, 1);
    await quiet();
    assert.equal(peer.received.length, 1);
  });
}

test("answers to unknown and repeated ids are counted, never answered (J11, N053, N054)", async () => {
  const { connection, peer } = withBarePeer();
  const answer = connection.request("work");
  await peer.until(1);
  peer.send({ jsonrpc: "2.0", id: 99, result: 0 });
  peer.send({ jsonrpc: "2.0", id: "01", result: "not the id" });
  peer.send({ jsonrpc: "2.0", id: 1, result: "first" });
  peer.send({ jsonrpc: "2.0", id: 1, result: "second" });
  peer.send({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "x" } });
  assert.equal(await answer, "first");
  await quiet();
  assert.equal(connection.counters.strayAnswers, 4);
  assert.equal(peer.received.length, 1);
});

test("an answer that repeats our id as a string is taken at once, and the log says so once (N057)", async () => {
  const { connection, peer, log } = withBarePeer();
  const answers = [connection.request("work"), connection.request("work"), connection.request("work")];
  await peer.until(3);
  peer.send({ jsonrpc: "2.0", id: "1", result: "one" });
  peer.send([{ jsonrpc: "2.0", id: "2", result: "two" }]);
  peer.send({ jsonrpc: "1.0", id: "3", result: "three" });
  assert.deepEqual(await Promise.all(answers.slice(0, 2)), ["one", "two"]);
  const third = await outcomeOf(answers[2] ?? Promise.resolve());
  assert.ok("error" in third && /without jsonrpc 2.0/.test(third.error.message));
  assert.equal(log.filter(({ message }) => /repeats ids as strings/.test(message)).length, 1);
  assert.equal(connection.counters.strayAnswers, 0);
});

test("ids come back as they were written: beyond 2^53, -0, empty, fractions and null (J3, N043-N047)", async () => {
  const { peer } = withBarePeer({ request: (_method, params) => params });
  const ids = ["9007199254740993", "-0", '""', "1.5", "null", "-9007199254740995", '"\u2028"', "0"];
  for (const id of ids) peer.sendText(`{"jsonrpc":"2.0","id":${id},"method":"m","params":{"id":1}}`);
  await peer.until(ids.length);
  const echoed = peer.texts.map((text) => /"id":([\s\S]*?),"result"/.exec(text)?.[1]);
  assert.deepEqual(echoed, ids);
});

test("the strict policy takes strings and integers only (J3, N043, N044)", async () => {
  const { connection, peer } = withBarePeer({ request: () => "ran" });
  setIdPolicy(connection, "strict");
  for (const id of [null, 1.5, "s", 7]) peer.send(call(id));
  peer.sendText('{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}');
  await peer.until(5);
  const answers = peer.received as Answer[];
  assert.deepEqual(
    answers.map(({ error, result }) => error?.code ?? result),
    [-32600, -32600, "ran", "ran", "ran"],
  );
});

test("invalid or too long ids are refused without running anything (N039-N042, N048)", async () => {
  let ran = 0;
  const { peer } = withBarePeer({ request: () => ++ran, limits: { maxIdLength: 4 } });
  for (const id of ["{}", "[]", "true", "1e400", '"12345"']) {
    peer.sendText(`{"jsonrpc":"2.0","id":${id},"method":"m"}`);
  }
  peer.send(call("1234"));
  await peer.until(6);
  assert.equal(ran, 1);
  const answers = peer.received as Answer[];
  assert.deepEqual(
    answers.map(({ id, error }) => [id, error?.code]),
    [...Array(5).fill([null, -32600]), ["1234", undefined]],
  );
});

test("an id that is still in use is refused under id null; the first request is unaffected (N051)", async () => {
  const first = Promise.withResolvers<string>();
  const { peer } = withBarePeer({ request: () => first.promise });
  peer.send(call(1));
  peer.send(call(1));
  peer.send(call("1"));
  await peer.until(1);
  const [refusal] = peer.received as Answer[];
  assert.deepEqual([refusal?.id, refusal?.error?.code], [null, -32600]);
  assert.deepEqual(refusal?.error?.data, { reason: "duplicate_id", path: "/id" });
  first.resolve("ok");
  await peer.until(3);
  assert.deepEqual(
    (peer.received as Answer[]).slice(1).map(({ id, result }) => [id, result]),
    [
      [1, "ok"],
      ["1", "ok"],
    ],
  );
});
