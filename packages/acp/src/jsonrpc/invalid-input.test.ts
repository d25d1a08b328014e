import assert from "node:assert/strict";
import { test } from "node:test";
import { call, outcomeOf, quiet, withBarePeer } from "../../test/support/connection-probe.ts";
import { ConnectionError } from "./errors.ts";

interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
const codes = (received: readonly unknown[]) =>
  (received as Answer[]).map(({ id, error }) => [id, error?.code]);

test("text that is not JSON gets -32700, JSON that is no message -32600, both with id null, and the next request is answered (J6)", async () => {
  const { connection, peer } = withBarePeer({ request: () => "fine" });
  for (const text of ["{oops", "42", '"x"', "null", "true", "{}"]) peer.sendText(text);
  peer.send(call(1));
  await peer.until(7);
  assert.deepEqual(codes(peer.received), [[null, -32700], ...Array(5).fill([null, -32600]), [1, undefined]]);
  assert.equal(connection.counters.refused, 6);
});

test("no refusal repeats what it refused (J7, N030)", async () => {
  const { peer, log } = withBarePeer();
  peer.sendText('{"secret":"hunter2"');
  peer.sendText('{"method":"hunter2","id":1}');
  peer.sendText('{"jsonrpc":"2.0","id":{"hunter2":1},"method":"x"}');
  await peer.until(3);
  assert.doesNotMatch(peer.texts.join() + JSON.stringify(log), /hunter2/);
});

const envelopes: Record<string, string> = {
  "a request without jsonrpc (N035)": '{"id":1,"method":"m"}',
  "jsonrpc 1.0 (N036)": '{"jsonrpc":"1.0","id":1,"method":"m"}',
  "jsonrpc as a number (N037)": '{"jsonrpc":2.0,"id":1,"method":"m"}',
  "a method that is no string (N038)": '{"jsonrpc":"2.0","id":1,"method":5}',
  "a request with a result (N060)": '{"jsonrpc":"2.0","id":1,"method":"m","result":null}',
  "a message without anything (J2)": '{"jsonrpc":"2.0"}',
};
for (const [what, text] of Object.entries(envelopes)) {
  test(`${what} is refused with -32600 and not run (J1, J2)`, async () => {
    let ran = 0;
    const count = () => void ran++ as undefined;
    const { peer } = withBarePeer({ request: count, notification: count });
    peer.sendText(text);
    await peer.until(1);
    assert.deepEqual([codes(peer.received), ran], [[[null, -32600]], 0]);
  });
}

test("a notification gets no answer, however wrong its method or params are (J5, J8, X16)", async () => {
  const { peer } = withBarePeer();
  for (const method of ["nope", "$/nope", "__proto__", ""]) {
    peer.send({ jsonrpc: "2.0", method });
    peer.send({ jsonrpc: "2.0", method, params: 5 });
  }
  await quiet();
  assert.deepEqual(peer.received, []);
});

test("errors with id null are limited to ten a second; the rest is counted, and answers with an id are not limited (J6)", async (t) => {
  let now = 5_000;
  t.mock.method(performance, "now", () => now);
  const { connection, peer } = withBarePeer({ request: () => "fine" });
  for (let i = 0; i < 25; i++) peer.sendText("rubbish");
  for (let id = 0; id < 20; id++) peer.send(call(id));
  await quiet();
  assert.equal(codes(peer.received).filter(([id]) => id === null).length, 10);
  assert.equal(peer.received.length, 30);
  assert.equal(connection.counters.unsentErrors, 15);
  assert.equal(connection.counters.refused, 25);
  now += 1_000;
  peer.sendText("rubbish");
  await quiet();
  assert.equal(codes(peer.received).filter(([id]) => id === null).length, 11);
});

test("a client skips and counts what an agent prints, shows 200 characters of it, and answers nothing (N002, N003, G9)", async () => {
  const printed = [
    "Debugger attached.",
    "[20:51:04] Using config",
    "[INFO] ready",
    "{ a: 1 }",
    "[1, 2, 3]",
    "[]",
    "42",
    '"hello"',
    "x".repeat(500),
  ];
  const { connection, peer, log } = withBarePeer({ noise: "skip", request: () => "fine" });
  for (const line of printed) peer.sendText(line);
  peer.send(call(1));
  await peer.until(1);
  assert.deepEqual(peer.received, [{ jsonrpc: "2.0", id: 1, result: "fine" }]);
  assert.equal(connection.counters.noise, printed.length);
  const lines = log.map(({ fields }) => String(fields.line));
  assert.deepEqual([lines[0], lines.at(-1)?.length], ['"Debugger attached."', 202]);
});

test("a line that begins like a message and is not JSON is answered also by a client (N001)", async () => {
  const { connection, peer } = withBarePeer({ noise: "skip" });
  peer.sendText('{"jsonrpc":"2.0","id":7,"meth');
  peer.sendText('[{"jsonrpc":"2.0"');
  await peer.until(2);
  assert.deepEqual(codes(peer.received), Array(2).fill([null, -32700]));
  assert.equal(connection.counters.noise, 0);
});

test("a client closes after 100 lines of noise without a message among them (N002)", async () => {
  const { connection, peer } = withBarePeer({ noise: "skip" });
  const pending = outcomeOf(connection.request("initialize"));
  for (let i = 0; i < 99; i++) peer.sendText("noise");
  await quiet();
  assert.equal(connection.isOpen, true);
  peer.sendText("noise");
  const reason = await connection.closed;
  assert.equal(reason.kind, "protocol");
  assert.match(reason.message, /100 lines and no message/);
  const outcome = await pending;
  assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
});

test("after one good message noise never closes the connection (N002)", async () => {
  const { connection, peer } = withBarePeer({ noise: "skip", limits: { maxNoiseLines: 3 } });
  peer.send({ jsonrpc: "2.0", method: "hello" });
  for (let i = 0; i < 50; i++) peer.sendText("noise");
  await quiet();
  assert.deepEqual([connection.isOpen, connection.counters.noise], [true, 50]);
});

test("a message over a limit is answered under its own id where that can be read, else under null (N024, N078)", async () => {
  const { peer } = withBarePeer({}, { limits: { maxMessageBytes: 400, maxDepth: 8 } });
  const big = JSON.stringify("x".repeat(500));
  peer.sendText(`{"jsonrpc":"2.0","id":7,"method":"m","params":${big}}`);
  peer.sendText(`{"jsonrpc":"2.0","params":{"id":8,"text":${big}},"method":"m","id":"a\\"b"}`);
  peer.sendText(`{"jsonrpc":"2.0","method":"m","params":{"id":9,"text":${big}}}`);
  peer.sendText(
    `{"jsonrpc":"2.0","id":9007199254740993,"method":"m","params":${"[".repeat(9)}${"]".repeat(9)}}`,
  );
  await peer.until(4);
  assert.deepEqual(
    peer.texts.map((text) => /"id":(.*?),"error":\{"code":(-\d+)/.exec(text)?.slice(1)),
    [
      ["7", "-32600"],
      ['"a\\"b"', "-32600"],
      ["null", "-32600"],
      ["9007199254740993", "-32602"],
    ],
  );
});

test("an answer over the limit rejects its request instead of leaving it to wait (N024)", async () => {
  const { connection, peer } = withBarePeer({}, { limits: { maxMessageBytes: 300 } });
  const pending = outcomeOf(connection.request("work"));
  await peer.until(1);
  peer.send({ jsonrpc: "2.0", id: 1, result: "x".repeat(500) });
  const outcome = await pending;
  assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
  assert.equal(outcome.error.kind, "too_large");
  assert.equal(connection.isOpen, true);
});

test("an oversized message under an id in use, or an overlong id, is answered under null (N051, N048)", async () => {
  const work = Promise.withResolvers<string>();
  const { peer } = withBarePeer(
    { request: () => work.promise, limits: { maxIdLength: 10 } },
    { limits: { maxMessageBytes: 300 } },
  );
  peer.send(call(1));
  peer.send(call(1, "m", "x".repeat(500)));
  peer.send(call("overlong id", "m", "x".repeat(500)));
  await peer.until(2);
  work.resolve("the only answer");
  await peer.until(3);
  assert.deepEqual(
    (peer.received as Answer[]).map(({ id }) => id),
    [null, null, 1],
  );
});

test("an id or method with half a surrogate pair gets -32602 (N015)", async () => {
  const { peer } = withBarePeer({ request: () => "ran" });
  peer.sendText('{"jsonrpc":"2.0","id":"\\ud800","method":"m"}');
  peer.sendText('{"jsonrpc":"2.0","id":1,"method":"\\udfff"}');
  peer.sendText('{"jsonrpc":"2.0","id":2,"method":"m","params":"\\ud800"}');
  await peer.until(3);
  assert.deepEqual(
    (peer.received as Answer[]).map(({ error }) => error?.code),
    [-32602, -32602, undefined],
  );
});

test("the last of two equal keys counts, for id and for method (N049)", async () => {
  const { peer } = withBarePeer({ request: (method) => method });
  peer.sendText('{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}');
  await peer.until(1);
  assert.deepEqual(peer.received, [{ jsonrpc: "2.0", id: 2, result: "b" }]);
});
