import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { probe } from "../../test/support/channel-probe.ts";
import { streamChannel } from "./stream-channel.ts";

/** Two connected sockets; both are gone after the test. */
async function socketPair(t: TestContext): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const ours = connect({ port: address.port, host: "127.0.0.1", allowHalfOpen: true });
  const [[theirs]] = await Promise.all([
    once(server, "connection") as Promise<[Socket]>,
    once(ours, "connect"),
  ]);
  server.close();
  t.after(() => {
    ours.destroy();
    theirs.destroy();
  });
  return [ours, theirs];
}

test("text arrives in order in both directions, more of it than the socket holds", async (t) => {
  const [ours, theirs] = await socketPair(t);
  const [left, right] = [streamChannel(ours, ours), streamChannel(theirs, theirs)];
  const [leftSeen, rightSeen] = [probe(left), probe(right)];
  const sent = Array.from({ length: 60 }, (_, index) => `${index} ${"ü".repeat(50_000)}\n`);
  for (const text of sent) left.write(text);
  assert.ok(left.queuedBytes() > 1_000_000, "it counts bytes that wait");
  right.write("hello\n");
  await leftSeen.until(/hello\n/);
  await rightSeen.until(/59 ü+\n$/);
  assert.equal(rightSeen.text() === sent.join(""), true);
  await Promise.all([left.close(), right.close()]);
});

test("when the peer ends its output, ours still arrives", async (t) => {
  const [ours, theirs] = await socketPair(t);
  const channel = streamChannel(ours, ours);
  const seen = probe(channel);
  theirs.end("last request");
  assert.deepEqual(await seen.ended, { kind: "eof" });
  assert.equal(seen.text(), "last request");
  channel.write("the answer");
  const [answer] = await once(theirs, "data");
  assert.equal(String(answer), "the answer");
  await channel.close();
});

test("closing sends what is queued first", async (t) => {
  const [ours, theirs] = await socketPair(t);
  const channel = streamChannel(ours, ours);
  const seen = probe(channel);
  const other = probe(streamChannel(theirs, theirs));
  channel.write("x".repeat(10_000_000));
  await channel.close();
  assert.deepEqual(await seen.ended, { kind: "closed" });
  await other.ended;
  assert.equal(other.text().length, 10_000_000);
});

test("closing with a reason does not wait for the peer, and reports the reason", async (t) => {
  const [ours] = await socketPair(t);
  const channel = streamChannel(ours, ours);
  const seen = probe(channel);
  channel.write("x".repeat(10_000_000));
  const cause = new Error("too much");
  await channel.close(cause);
  assert.deepEqual(await seen.ended, { kind: "closed", message: "too much", cause });
});

test("a connection that is reset ends the channel once and takes no more writes", async (t) => {
  const [ours, theirs] = await socketPair(t);
  const channel = streamChannel(ours, ours);
  const seen = probe(channel);
  theirs.resetAndDestroy();
  const reason = await seen.ended;
  assert.equal(reason.kind, "closed");
  assert.equal(reason.message, "the peer has closed the connection (ECONNRESET)");
  assert.equal(channel.write("late"), true);
  assert.equal(channel.queuedBytes(), 0);
  await channel.close();
});

test("a connection that breaks before the channel is opened is reported by opening it", async (t) => {
  const [ours, theirs] = await socketPair(t);
  const channel = streamChannel(ours, ours);
  ours.resume();
  theirs.resetAndDestroy();
  await new Promise((resolve) => ours.once("close", resolve));
  assert.equal((await probe(channel).ended).kind, "closed");
});
