import assert from "node:assert/strict";
import { test } from "node:test";
import {
  call,
  connectedPair,
  connectionOver,
  quiet,
  withBarePeer,
} from "../../test/support/connection-probe.ts";
import { memoryPair } from "../transport/memory.ts";

test("handlers start in the order of arrival, each before the next message is looked at (G1)", async () => {
  const started: string[] = [];
  const { peer } = withBarePeer({
    request(method) {
      started.push(method);
      return new Promise(() => undefined);
    },
    notification(method) {
      started.push(method);
    },
  });
  for (const [i, method] of ["a", "b", "c", "d", "e", "f"].entries()) {
    peer.send(i % 2 === 0 ? call(i, method) : { jsonrpc: "2.0", method });
  }
  await quiet();
  assert.deepEqual(started, ["a", "b", "c", "d", "e", "f"]);
});

test("handlers of messages that came in one chunk start without a microtask between them (G1, G2)", async () => {
  const steps: string[] = [];
  const { peer } = withBarePeer({
    notification(method) {
      steps.push(method);
      queueMicrotask(() => steps.push(`after ${method}`));
    },
  });
  peer.send({ jsonrpc: "2.0", method: "a" });
  peer.send({ jsonrpc: "2.0", method: "b" });
  await quiet();
  assert.deepEqual(steps, ["a", "b", "after a", "after b"]);
});

test("an update that precedes a response is seen before that response resolves (G1)", async () => {
  const seen: string[] = [];
  const { connection, peer } = withBarePeer({
    notification: (method) => void seen.push(method) as undefined,
  });
  const answer = connection.request("prompt").then(() => seen.push("answer"));
  await peer.until(1);
  for (let i = 0; i < 5; i++) peer.send({ jsonrpc: "2.0", method: `update ${i}` });
  peer.send({ jsonrpc: "2.0", id: 1, result: {} });
  await answer;
  assert.deepEqual(seen, ["update 0", "update 1", "update 2", "update 3", "update 4", "answer"]);
});

test("a result is received before any later message of the peer is handled (G1)", async () => {
  const seen: unknown[] = [];
  const { connection, peer } = withBarePeer({
    notification: (method) => void seen.push(method) as undefined,
  });
  const answer = connection.request("new", undefined, {
    receive(result) {
      seen.push(result);
      return "received";
    },
  });
  await peer.until(1);
  peer.send({ jsonrpc: "2.0", method: "before" });
  peer.send({ jsonrpc: "2.0", id: 1, result: "session" });
  peer.send({ jsonrpc: "2.0", method: "after" });
  assert.equal(await answer, "received");
  assert.deepEqual(seen, ["before", "session", "after"]);
});

test("an error in `receive` rejects its request only", async () => {
  const { connection, peer } = withBarePeer();
  const bad = connection.request("bad", undefined, {
    receive() {
      throw new RangeError("not decodable");
    },
  });
  const good = connection.request("good");
  await peer.until(2);
  peer.send({ jsonrpc: "2.0", id: 1, result: 1 });
  peer.send({ jsonrpc: "2.0", id: 2, result: 2 });
  await assert.rejects(bad, RangeError);
  assert.equal(await good, 2);
});

test("a notification handler that throws is logged, not answered, and the next message is handled (X16, J5)", async () => {
  const seen: string[] = [];
  const { peer, log } = withBarePeer({
    notification(method) {
      if (method === "bad") throw new Error("secret");
      seen.push(method);
    },
  });
  peer.send({ jsonrpc: "2.0", method: "bad" });
  peer.send({ jsonrpc: "2.0", method: "good" });
  await quiet();
  assert.deepEqual(seen, ["good"]);
  assert.deepEqual(peer.received, []);
  assert.deepEqual(
    log.map(({ level, message, fields }) => [level, message, fields.method, String(fields.error)]),
    [["error", "a notification handler threw", "bad", "Error: secret"]],
  );
});

test("both sides may await one another inside request handlers, ten levels deep (G2)", async () => {
  const descend = (method: string, params: unknown, request: { request(m: string, p: unknown): unknown }) => {
    const level = params as number;
    return level === 0 ? `bottom by ${method}` : request.request("down", level - 1);
  };
  const [left] = connectedPair({ request: descend }, { request: descend });
  assert.equal(await left.request("down", 10), "bottom by down");
});

test("the same id may be open in both directions (J4)", async () => {
  const answers = Promise.withResolvers<string>();
  const { connection, peer } = withBarePeer({ request: () => answers.promise });
  const ours = connection.request("ours");
  await peer.until(1);
  peer.send(call(1, "theirs"));
  peer.send({ jsonrpc: "2.0", id: 1, result: "their answer" });
  assert.equal(await ours, "their answer");
  answers.resolve("our answer");
  await peer.until(2);
  assert.deepEqual(peer.received[1], { jsonrpc: "2.0", id: 1, result: "our answer" });
});

test("afterReply runs when the reply has been queued, before anything later (G3)", async () => {
  const { connection, peer } = withBarePeer({
    request(method, _params, request) {
      request.afterReply(() => connection.notify(`after ${method}`));
      return method === "now" ? "now" : Promise.resolve("soon");
    },
    notification: (method) => void connection.notify(`echo ${method}`) as undefined,
  });
  peer.send(call(1, "now"));
  peer.send({ jsonrpc: "2.0", method: "n" });
  peer.send(call(2, "soon"));
  await peer.until(5);
  const order = (peer.received as { id?: number; method?: string }[]).map(({ id, method }) => method ?? id);
  assert.deepEqual(order, [1, "after now", "echo n", 2, "after soon"]);
});

test("afterReply also follows an error, and a callback that throws does not stop the next one (G3)", async () => {
  const { connection, peer, log } = withBarePeer({
    request(_method, _params, request) {
      request.afterReply(() => {
        throw new Error("first");
      });
      request.afterReply(() => connection.notify("second"));
      throw new Error("handler");
    },
  });
  peer.send(call(1));
  await peer.until(2);
  assert.equal((peer.received[1] as { method: string }).method, "second");
  assert.ok(log.some(({ message }) => message === "an afterReply callback threw"));
});

test("afterReply after the reply runs at once instead of never (G3)", async () => {
  let late: (() => void) | undefined;
  const { connection, peer } = withBarePeer({
    request(_method, _params, request) {
      late = () => request.afterReply(() => connection.notify("late"));
      return null;
    },
  });
  peer.send(call(1));
  await peer.until(1);
  late?.();
  await peer.until(2);
  assert.equal((peer.received[1] as { method: string }).method, "late");
});

test("in a batch afterReply runs after the array was queued, in the order of the answers (G3, B5)", async () => {
  const slow = Promise.withResolvers<string>();
  const { connection, peer } = withBarePeer({
    request(method, _params, request) {
      request.afterReply(() => connection.notify(`after ${method}`));
      return method === "slow" ? slow.promise : method;
    },
  });
  peer.send([call(1, "slow"), call(2, "fast")]);
  await quiet();
  assert.deepEqual(peer.received, []);
  slow.resolve("slow");
  await peer.until(3);
  assert.ok(Array.isArray(peer.received[0]));
  const after = (peer.received.slice(1) as { method: string }[]).map(({ method }) => method);
  assert.deepEqual(after, ["after fast", "after slow"]);
});

test("the tap sees both directions in the order of the wire, and the head of what was refused", async () => {
  const tapped: string[] = [];
  const { connection, peer } = withBarePeer({
    tap: (direction, text, fault) => void tapped.push(`${direction} ${fault?.kind ?? ""}${text}`),
    request: () => "pong",
  });
  await connection.notify("hello");
  peer.send(call(7, "ping"));
  peer.sendText("{nonsense");
  await peer.until(3);
  assert.deepEqual(tapped, [
    'out {"jsonrpc":"2.0","method":"hello"}',
    'in {"jsonrpc":"2.0","id":7,"method":"ping"}',
    'out {"jsonrpc":"2.0","id":7,"result":"pong"}',
    "in parse{nonsense",
    'out {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error: the text is not JSON","data":{"reason":"parse"}}}',
  ]);
});

test("a tap that throws loses no message and spoils no answer", async () => {
  const { peer, log } = withBarePeer({
    tap() {
      throw new Error("disk full");
    },
    request: () => "pong",
  });
  peer.send(call(1));
  await peer.until(1);
  assert.deepEqual(peer.received, [{ jsonrpc: "2.0", id: 1, result: "pong" }]);
  assert.equal(log.filter(({ message }) => message === "a tap threw").length, 2);
});

test("no handler runs before the constructor has returned, though input was waiting (G1)", async () => {
  const [a, b] = memoryPair();
  b.send({}, JSON.stringify({ jsonrpc: "2.0", method: "early" }));
  let seen = 0;
  connectionOver(a, { notification: () => void seen++ as undefined });
  assert.equal(seen, 0);
  await quiet();
  assert.equal(seen, 1);
});
