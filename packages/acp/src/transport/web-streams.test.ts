import assert from "node:assert/strict";
import { test } from "node:test";
import { transportContract } from "../testing/contracts/transport-contract.ts";
import { watch } from "../testing/contracts/watched-transport.ts";
import { memoryPair } from "./memory.ts";
import { type ByteStreams, fromWebStreams, toWebStreams } from "./web-streams.ts";

const utf8 = new TextEncoder();
const encode = (text: string) => utf8.encode(`${text}\n`);

/** One direction whose reading end can be fed and ended by the test too. */
function pipe(): {
  readable: ReadableStream<Uint8Array>;
  writable: WritableStream<Uint8Array>;
  feed: (bytes: Uint8Array) => void;
  end: () => void;
  fail: (reason: Error) => void;
} {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let room: PromiseWithResolvers<void> | undefined;
  let isOver = false;
  const readable = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull() {
        room?.resolve();
        room = undefined;
      },
      cancel() {
        isOver = true;
        room?.resolve();
      },
    },
    { highWaterMark: 0 },
  );
  const feed = (bytes: Uint8Array) => {
    if (!isOver) controller?.enqueue(bytes.slice());
  };
  const end = () => {
    if (!isOver) controller?.close();
    isOver = true;
  };
  const writable = new WritableStream<Uint8Array>({
    async write(bytes) {
      feed(bytes);
      if (isOver || (controller?.desiredSize ?? 0) >= 0) return;
      room ??= Promise.withResolvers<void>();
      await room.promise;
    },
    close: end,
    abort: end,
  });
  const fail = (reason: Error) => {
    if (!isOver) controller?.error(reason);
    isOver = true;
    room?.resolve();
  };
  return { readable, writable, feed, end, fail };
}

transportContract(
  { test, assert },
  "web streams",
  (limits) => {
    const toNear = pipe();
    const toFar = pipe();
    const flushMs = 50;
    return {
      near: fromWebStreams({ readable: toNear.readable, writable: toFar.writable }, { limits, flushMs }),
      far: fromWebStreams({ readable: toFar.readable, writable: toNear.writable }, { limits, flushMs }),
      frameToNear: (text) => toNear.feed(encode(text)),
      bytesToNear: (bytes) => {
        if (bytes.length > 0) toNear.feed(bytes);
      },
      halfClose: () => toNear.end(),
      cut: () => toNear.fail(new Error("connection reset")),
    };
  },
  { encode },
);

test("closing web streams whose reader never reads ends after flushMs (G8)", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const stuck: ByteStreams = {
    readable: new ReadableStream<Uint8Array>({ cancel: () => new Promise(() => undefined) }),
    writable: new WritableStream<Uint8Array>({ write: () => new Promise(() => undefined) }),
  };
  const transport = fromWebStreams(stuck);
  watch(transport);
  transport.send({ n: 1 });
  const closing = transport.close();
  t.mock.timers.tick(2_000);
  await closing;
});

test("a transport seen as message streams carries messages both ways, in order, and ends", async () => {
  const [near, far] = memoryPair();
  const { readable, writable } = toWebStreams(near);
  const watched = watch(far);
  const writer = writable.getWriter();
  for (let n = 0; n < 100; n++) {
    far.send({ n });
    await writer.write({ n });
  }
  await far.close();
  const read: unknown[] = [];
  for await (const message of readable) read.push(message);
  const expected = [...Array(100).keys()].map((n) => ({ n }));
  assert.deepEqual([read, watched.values], [expected, expected]);
});

test("closing the writable of message streams ends the readable too", async () => {
  const [near] = memoryPair();
  const { readable, writable } = toWebStreams(near);
  await writable.close();
  assert.deepEqual(await readable.getReader().read(), { done: true, value: undefined });
});

test("a reader of message streams that is slow makes the sender wait, not the memory grow", async () => {
  const [near, far] = memoryPair({ limits: { highWaterBytes: 100 } });
  const { readable } = toWebStreams(near);
  const watched = watch(far);
  while (far.send({ text: "x".repeat(50) }));
  const before = watched.drains();
  const reader = readable.getReader();
  while (watched.drains() === before) await reader.read();
});

test("a failed transport errors the readable of its message streams", async () => {
  const [near] = memoryPair({ limits: { highWaterBytes: 10, maxQueuedBytes: 100 } });
  const { readable, writable } = toWebStreams(near);
  await writable.getWriter().write({ text: "x".repeat(200) });
  await assert.rejects(readable.getReader().read(), /does not read/);
});

test("message streams can be cancelled, aborted and closed in any order", async () => {
  const [near] = memoryPair({ limits: { highWaterBytes: 10 } });
  const { readable, writable } = toWebStreams(near);
  await readable.cancel();
  await writable.close();
  const [other] = memoryPair({ limits: { highWaterBytes: 10 } });
  const streams = toWebStreams(other);
  const writer = streams.writable.getWriter();
  const blocked = writer.write({ text: "more than there is room for" });
  // the stream has to have begun with it
  await new Promise((resolve) => setImmediate(resolve));
  await writer.abort(new Error("enough"));
  await blocked;
  assert.deepEqual(await streams.readable.getReader().read(), { done: true, value: undefined });
});

test("writing to message streams whose peer has gone rejects, and does not drop silently", async () => {
  const [near, far] = memoryPair();
  const { readable, writable } = toWebStreams(near);
  const writer = writable.getWriter();
  const closed = assert.rejects(writer.closed, /the transport ended: closed/);
  await far.close();
  assert.deepEqual(await readable.getReader().read(), { done: true, value: undefined });
  await assert.rejects(writer.write({ a: 1 }), /the transport ended: closed/);
  await closed;
});
