import assert from "node:assert/strict";
import { test } from "node:test";
import { call, connectedPair, outcomeOf, quiet, withBarePeer } from "../../test/support/connection-probe.ts";
import { ConnectionError, RequestError } from "./errors.ts";

interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const byId = (answers: unknown) =>
  [...(answers as Answer[])]
    .map(({ id, result, error }) => [id, error?.code ?? result])
    .sort((a, b) => String(a[0]).localeCompare(String(b[0])));

test("a batch is answered with one array when its last request has been answered, none for notifications (B4, B5)", async () => {
  const slow = Promise.withResolvers<string>();
  const seen: string[] = [];
  const { peer } = withBarePeer({
    request: (method) => (method === "slow" ? slow.promise : `${method} result`),
    notification: (method) => void seen.push(method) as undefined,
  });
  peer.send([call(1, "slow"), { jsonrpc: "2.0", method: "n" }, call(2, "fast"), call(3, "fast")]);
  await quiet();
  assert.deepEqual([seen, peer.received], [["n"], []]);
  slow.resolve("slow result");
  await peer.until(1);
  assert.deepEqual(byId(peer.received[0]), [
    [1, "slow result"],
    [2, "fast result"],
    [3, "fast result"],
  ]);
});

test("an empty array is answered with one error object, not with an array (B3)", async () => {
  const { peer } = withBarePeer();
  peer.send([]);
  await peer.until(1);
  const answer = peer.received[0] as Answer;
  assert.deepEqual([Array.isArray(answer), answer.id, answer.error?.code], [false, null, -32600]);
});

test("an array that is not JSON is answered with one -32700 (B2)", async () => {
  const { peer } = withBarePeer();
  peer.sendText('[{"jsonrpc":"2.0","id":1,"method":"a"},');
  await peer.until(1);
  const answer = peer.received[0] as Answer;
  assert.deepEqual([answer.id, answer.error?.code], [null, -32700]);
});

test("a batch of notifications is not answered at all (B6, X16)", async () => {
  const seen: string[] = [];
  const { peer } = withBarePeer({ notification: (method) => void seen.push(method) as undefined });
  peer.send([
    { jsonrpc: "2.0", method: "a" },
    { jsonrpc: "2.0", method: "b" },
  ]);
  await quiet();
  assert.deepEqual([seen, peer.received], [["a", "b"], []]);
});

test("each entry that is no message gets its own -32600, and the others run (B7)", async () => {
  const { peer } = withBarePeer({ request: () => "ran" });
  peer.send([1, 2, 3]);
  peer.send([
    call(1),
    5,
    null,
    [call(9)],
    {},
    { id: 2, method: "no version" },
    { jsonrpc: "2.0", method: 7, id: 3 },
  ]);
  await peer.until(2);
  assert.deepEqual(byId(peer.received[0]), Array(3).fill([null, -32600]));
  assert.deepEqual(byId(peer.received[1]), [[1, "ran"], ...Array(6).fill([null, -32600])]);
});

test("a bad result, a cancelled request and a refused one do not spoil the answers of their batch (B5, G4)", async () => {
  const { peer } = withBarePeer({
    limits: { maxInFlightPerScope: 1 },
    scopeOf: () => "all",
    request: (method, _params, request) =>
      method === "bad"
        ? 1n
        : new Promise((_resolve, reject) =>
            request.signal.addEventListener("abort", () => reject(request.signal.reason)),
          ),
  });
  peer.send([
    call(1, "bad"),
    call(2, "wait"),
    call(3, "wait"),
    { jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 2 } },
  ]);
  await peer.until(1);
  assert.deepEqual(byId(peer.received[0]), [
    [1, -32603],
    [2, -32800],
    [3, -32065],
  ]);
});

test("where batches are off an array gets one -32600 and nothing of it runs (B9)", async () => {
  let ran = 0;
  const { peer } = withBarePeer({ batches: "reject", request: () => ++ran });
  peer.send([call(1), call(2)]);
  await peer.until(1);
  await quiet();
  const answer = peer.received[0] as Answer;
  assert.deepEqual([ran, peer.received.length, answer.id, answer.error?.code], [0, 1, null, -32600]);
});

test("a batch with too many entries is refused whole, with the limit in the answer (G8)", async () => {
  let ran = 0;
  const { peer } = withBarePeer({ limits: { maxBatchEntries: 2 }, request: () => ++ran });
  peer.send([call(1), call(2), call(3)]);
  peer.send([call(1), call(2)]);
  await peer.until(2);
  const [refusal, answers] = peer.received as [Answer, Answer[]];
  assert.deepEqual([refusal.id, refusal.error?.code, answers.length, ran], [null, -32063, 2, 2]);
  assert.match(refusal.error?.message ?? "", /2 entries, got 3/);
});

test("responses that arrive in an array are paired with their requests, requests beside them run (B10)", async () => {
  const { connection, peer } = withBarePeer({ request: () => "ran" });
  const answers = Promise.all([connection.request("a"), connection.request("b")]);
  await peer.until(2);
  peer.send([{ jsonrpc: "2.0", id: 2, result: "B" }, call(1), { jsonrpc: "2.0", id: 1, result: "A" }]);
  assert.deepEqual(await answers, ["A", "B"]);
  await peer.until(3);
  assert.deepEqual(byId(peer.received[2]), [[1, "ran"]]);
});

test("ids of a batch beyond 2^53 come back digit for digit, and params are left alone (N045)", async () => {
  const params: unknown[] = [];
  const texts: string[] = [];
  const { peer } = withBarePeer({
    request: (_method, given) => void params.push(given),
    notification: (_method, given, text) => {
      params.push(given);
      texts.push(text);
    },
  });
  const note = '{"jsonrpc":"2.0","method":"n","params":{"id":9007199254740993,"s":"],{\\\\\\"[,"}}';
  peer.sendText(
    `[ {"jsonrpc":"2.0","id":9007199254740993,"method":"a","params":{"id":9007199254740993}} , ${note}\n]`,
  );
  await peer.until(1);
  assert.equal(peer.texts[0], '[{"jsonrpc":"2.0","id":9007199254740993,"result":null}]');
  assert.deepEqual(
    params.map((given) => typeof (given as { id: unknown }).id),
    ["number", "number"],
  );
  assert.deepEqual(texts, [note], "a handler gets the text of its own message, not of the array");
});

test("a batch is sent as one array and each promise gets its own answer (B1, B5)", async () => {
  const seen: string[] = [];
  const [client] = connectedPair(
    {},
    {
      request(method) {
        if (method === "bad") throw new RequestError("not_found", "no such");
        return Promise.resolve(method);
      },
      notification: (method) => void seen.push(method) as undefined,
    },
  );
  const [a, note, bad] = client.batch([
    { method: "a" },
    { method: "note", notification: true },
    { method: "bad" },
  ]);
  assert.equal(note, undefined);
  await assert.rejects(bad ?? Promise.resolve(), { code: -32002 });
  assert.equal(await a, "a");
  assert.deepEqual(seen, ["note"]);
});

test("a batch that the rules forbid, or an empty one, throws and sends nothing (B1, B8)", async () => {
  const { connection, peer } = withBarePeer({
    refuseBatch: (calls) =>
      calls.some(({ method }) => method === "initialize") ? "initialize travels alone" : undefined,
  });
  assert.throws(() => connection.batch([{ method: "initialize" }]), /initialize travels alone/);
  assert.throws(() => connection.batch([]), /at least one/);
  assert.throws(() => connection.batch([{ method: "a", params: 1n }]), TypeError);
  await quiet();
  assert.deepEqual(peer.received, []);
});

test("a call of a batch whose signal is aborted already is left out of the array", async () => {
  const { connection, peer } = withBarePeer();
  const signal = AbortSignal.abort();
  const [gone, sent] = connection.batch([{ method: "gone", options: { signal } }, { method: "sent" }]);
  await assert.rejects(gone ?? Promise.resolve(), { kind: "aborted" });
  await peer.until(1);
  assert.deepEqual(
    (peer.received[0] as { method: string }[]).map(({ method }) => method),
    ["sent"],
  );
  peer.send([{ jsonrpc: "2.0", id: 1, result: "ok" }]);
  assert.equal(await sent, "ok");
});

test("a batch whose only calls are aborted already sends no empty array (B6)", async () => {
  const { connection, peer } = withBarePeer();
  const [gone] = connection.batch([{ method: "gone", options: { signal: AbortSignal.abort() } }]);
  await assert.rejects(gone ?? Promise.resolve(), { kind: "aborted" });
  await quiet();
  assert.deepEqual(peer.received, []);
});

test("a peer that takes no batches answers once with id null: every request of that batch rejects, others wait on (B9)", async () => {
  const { connection, peer } = withBarePeer();
  const single = connection.request("single");
  const first = connection
    .batch([{ method: "a" }, { method: "b" }])
    .map((answer) => outcomeOf(answer ?? Promise.resolve()));
  const [second] = connection.batch([{ method: "c" }]);
  await peer.until(3);
  peer.send({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "no batches" } });
  for (const outcome of await Promise.all(first)) {
    assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
    assert.match(outcome.error.message, /does not accept batches/);
  }
  peer.send({ jsonrpc: "2.0", id: 1, result: "single" });
  peer.send([{ jsonrpc: "2.0", id: 4, result: "second" }]);
  assert.deepEqual([await single, await second], ["single", "second"]);
});

test("a batch after the end of the connection rejects every call with the reason", async () => {
  const { connection, peer } = withBarePeer();
  await peer.transport.close();
  await connection.closed;
  const [a, note] = connection.batch([{ method: "a" }, { method: "n", notification: true }]);
  await assert.rejects(a ?? Promise.resolve(), { kind: "closed" });
  assert.equal(note, undefined);
});
