// The contract suite for transports.

import type { FrameLimits } from "../../transport/byte-channel.ts";
import type { ContractRunner } from "./runner.ts";
import {
  type ContractException,
  type ContractOptions,
  checkParts,
  counted,
  delivers,
  drainsAgain,
  ends,
  type MakeTransportPair,
  overflows,
  queues,
  reports,
  resumes,
  splits,
  type TransportPair,
} from "./transport-pair.ts";
import { type WatchedTransport, watch } from "./watched-transport.ts";

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A message whose JSON text has exactly so many bytes. */
export function messageOf(bytes: number): { text: string } {
  return { text: "x".repeat(bytes - JSON.stringify({ text: "" }).length) };
}

const timeout = 60_000;

/** More messages than are ever needed: sockets and pipes of the system hold megabytes before anything is felt. */
const enough = 4_000;

/** Sends to a peer that does not read until `send` says false, or until the end; answers how many it took. */
async function fill(pair: TransportPair, near: WatchedTransport, until: "full" | "end"): Promise<number> {
  const message = messageOf(32 * 1024);
  if (pair.fillNear !== undefined) return pair.fillNear(message, until);
  for (let sent = 1; sent < enough; sent++) {
    const hasRoom = pair.near.send(message);
    if (until === "full" ? !hasRoom : near.ends.length > 0) return sent;
  }
  return enough;
}

/**
 * Registers the tests that every transport must pass.
 *
 * @param runner - `test` of `node:test` and `node:assert/strict`, or similar functions.
 * @param name - The beginning of the tests' names.
 * @param makePair - Creates two connected transports with these limits. The test closes them.
 * @param options - The limits of the transport, if it has any.
 *
 * @example
 * import assert from "node:assert/strict";
 * import { test } from "node:test";
 * import { transportContract } from "@parley/acp/testing";
 * import { memoryPair } from "@parley/acp/transport";
 *
 * const reason = "messages are passed whole";
 * const exceptions = { bytes: reason, malformed: reason, "half-close": reason, cut: reason };
 * transportContract(
 *   { test, assert },
 *   "my transport",
 *   (limits) => {
 *     const [near, far] = memoryPair({ limits });
 *     return { near, far };
 *   },
 *   { exceptions },
 * );
 */
export function transportContract(
  runner: ContractRunner,
  name: string,
  makePair: MakeTransportPair,
  options: ContractOptions = {},
): void {
  const { test, assert } = runner;
  const { exceptions = {}, encode = (text) => new TextEncoder().encode(`${text}\n`) } = options;

  function promise(
    what: string,
    needs: readonly ContractException[],
    limits: Partial<FrameLimits>,
    body: (pair: TransportPair) => Promise<void>,
  ): void {
    const reason = needs.map((need) => exceptions[need]).find((text) => text !== undefined);
    test(`${name}: ${what}`, { timeout, skip: reason ?? false }, async () => {
      const pair = await makePair(limits);
      try {
        checkParts(pair, needs);
        await body(pair);
      } finally {
        await Promise.all([pair.near.close(), pair.far.close()]);
        await pair.dispose?.();
      }
    });
  }

  promise(
    "messages arrive in the order in which they were sent, in both directions",
    [],
    {},
    async (pair) => {
      const near = watch(pair.near, "near");
      const far = watch(pair.far, "far");
      const numbers = [...Array(2_000).keys()];
      for (const n of numbers) {
        pair.near.send({ n });
        pair.far.send({ n }, `{ "n": ${n} }`);
      }
      await near.until(() => near.values.length === numbers.length, counted(numbers.length), delivers);
      await far.until(() => far.values.length === numbers.length, counted(numbers.length), delivers);
      const expected = numbers.map((n) => ({ n }));
      assert.deepEqual([near.values, far.values], [expected, expected]);
    },
  );

  promise("nothing is lost that was sent before the other side started", [], {}, async (pair) => {
    watch(pair.far, "far");
    for (let n = 0; n < 3; n++) pair.far.send({ n });
    // a round on the event loop, in which a transport that reads too early would read
    await new Promise((resolve) => setTimeout(resolve));
    const near = watch(pair.near, "near");
    await near.until(() => near.values.length === 3, counted(3), queues);
    assert.deepEqual(near.values, [{ n: 0 }, { n: 1 }, { n: 2 }]);
  });

  promise(
    "text outside of ASCII, line breaks in strings and U+2028 arrive as they were sent",
    [],
    {},
    async (pair) => {
      const near = watch(pair.near, "near");
      watch(pair.far, "far");
      const messages = [{ s: "ünï ✓ 🙂 \u2028\u2029" }, { s: "a\nb\r\nc\u0000" }, { s: "\ud800 alone" }];
      for (const message of messages) pair.far.send(message);
      await near.until(() => near.values.length === messages.length, counted(messages.length), delivers);
      assert.deepEqual(near.values, messages);
    },
  );

  promise(
    "text that was printed over several lines is one message all the same (T2)",
    [],
    {},
    async (pair) => {
      const near = watch(pair.near, "near");
      watch(pair.far, "far");
      const message = { a: [1, { b: "x\ny" }] };
      pair.far.send(message, JSON.stringify(message, undefined, 2));
      pair.far.send({ next: true });
      await near.until(() => near.values.length === 2, counted(2), delivers);
      assert.deepEqual([near.values, near.faults], [[message, { next: true }], []]);
    },
  );

  promise("many messages in one chunk all arrive, in order", ["bytes"], {}, async (pair) => {
    const near = watch(pair.near, "near");
    const frames = [...Array(500).keys()].map((n) => encode(JSON.stringify({ n })));
    pair.bytesToNear?.(joined(frames));
    await near.until(() => near.values.length === 500, counted(500), splits);
    assert.deepEqual(
      near.values.map((value) => (value as { n: number }).n),
      [...Array(500).keys()],
    );
  });

  promise("a message may be split at every byte (T5)", ["bytes"], {}, async (pair) => {
    const near = watch(pair.near, "near");
    const message = { s: "ü✓🙂", n: [1, 2] };
    const bytes = encode(JSON.stringify(message));
    for (let at = 0; at <= bytes.length; at++) {
      pair.bytesToNear?.(bytes.subarray(0, at));
      pair.bytesToNear?.(bytes.subarray(at));
    }
    for (const byte of bytes) pair.bytesToNear?.(Uint8Array.of(byte));
    await near.until(() => near.values.length === bytes.length + 2, counted(bytes.length + 2), splits);
    assert.deepEqual(near.values, Array(bytes.length + 2).fill(message));
  });

  const small = { highWaterBytes: 64 * 1024 };
  promise(
    "send says false when the peer is slow, then drains, and nothing is lost (G8)",
    ["back-pressure"],
    small,
    async (pair) => {
      const near = watch(pair.near, "near");
      const drains = near.drains();
      const sent = await fill(pair, near, "full");
      assert.ok(sent < enough, "send never said false");
      const far = watch(pair.far, "far");
      await near.until(() => near.drains() > drains, "a drain", drainsAgain);
      await far.until(() => far.values.length === sent, counted(sent), delivers);
      pair.near.send({ last: true });
      await far.until(() => far.values.length === sent + 1, counted(sent + 1), delivers);
      assert.deepEqual(far.values.at(-1), { last: true });
      assert.deepEqual(near.ends, []);
    },
  );

  const bounded = { highWaterBytes: 16 * 1024, maxQueuedBytes: 256 * 1024 };
  promise(
    "a peer that never reads ends in overflow, with a reason, and sending on does no harm (G8)",
    ["back-pressure"],
    bounded,
    async (pair) => {
      const near = watch(pair.near, "near");
      await fill(pair, near, "end");
      await near.until(() => near.ends.length > 0, "an end", overflows);
      assert.equal(near.ends[0]?.kind, "overflow");
      assert.ok(/does not read: \d+ bytes/.test(near.ends[0]?.message ?? ""), near.ends[0]?.message);
      assert.equal(pair.near.send(messageOf(1_000)), true, "dropped");
    },
  );

  const limited = { maxMessageBytes: 1_000 };
  promise(
    "a message of exactly the limit is accepted, one byte more is refused, and the next one arrives (G8)",
    ["refused"],
    limited,
    async (pair) => {
      const near = watch(pair.near, "near");
      watch(pair.far, "far");
      pair.far.send(messageOf(1_000));
      pair.far.send(messageOf(1_001));
      pair.far.send({ next: true });
      await near.until(() => near.values.length === 2, counted(2), delivers);
      assert.deepEqual(near.values, [messageOf(1_000), { next: true }]);
      assert.deepEqual(
        near.faults.map(({ kind, bytes }) => [kind, bytes]),
        [["too_large", 1_001]],
      );
    },
  );

  promise("the limit counts bytes, not characters (T5, L1)", ["refused"], limited, async (pair) => {
    const near = watch(pair.near, "near");
    watch(pair.far, "far");
    pair.far.send({ s: "ü".repeat(496) });
    pair.far.send({ s: "ü".repeat(497) });
    pair.far.send({ next: true });
    await near.until(() => near.values.length === 2, counted(2), delivers);
    assert.deepEqual(
      near.faults.map(({ kind, bytes }) => [kind, bytes]),
      [["too_large", 1_002]],
    );
  });

  promise(
    "nesting of 512 levels is accepted, of 513 refused; brackets in strings do not count (N077, N078)",
    ["refused"],
    {},
    async (pair) => {
      const near = watch(pair.near, "near");
      watch(pair.far, "far");
      const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
      pair.far.send([], nested(512));
      pair.far.send([], nested(513));
      pair.far.send({ s: '\\"[{'.repeat(2_000) });
      await near.until(() => near.values.length === 2, counted(2), delivers);
      assert.deepEqual(
        near.faults.map(({ kind, bytes }) => [kind, bytes]),
        [["too_deep", 1_026]],
      );
    },
  );

  promise(
    "a malformed frame is reported with its kind, and the next good message arrives (J6)",
    ["malformed"],
    {},
    async (pair) => {
      const near = watch(pair.near, "near");
      pair.frameToNear?.('{"oops":');
      pair.frameToNear?.('{"good":1}');
      await near.until(() => near.values.length === 1, counted(1), reports);
      const [fault] = near.faults;
      assert.deepEqual(
        [near.faults.length, fault?.kind, fault?.bytes, fault?.head],
        [1, "parse", 8, '{"oops":'],
      );
      assert.equal(fault?.isCutOff, undefined);
    },
  );

  promise(
    "after the peer ended its output, ours can still be written (T7)",
    ["half-close"],
    {},
    async (pair) => {
      const near = watch(pair.near, "near");
      const far = watch(pair.far, "far");
      pair.far.send({ last: "question" });
      await near.until(() => near.values.length === 1, counted(1), delivers);
      pair.halfClose?.();
      await near.until(() => near.ends.length === 1, "an end", ends);
      assert.equal(near.ends[0]?.kind, "eof");
      pair.near.send({ answer: 1 });
      await far.until(() => far.values.length === 1, counted(1), delivers);
      assert.deepEqual(far.values, [{ answer: 1 }]);
    },
  );

  promise("what was sent before a close arrives before the end", [], {}, async (pair) => {
    const near = watch(pair.near, "near");
    watch(pair.far, "far");
    const numbers = [...Array(200).keys()];
    for (const n of numbers) pair.far.send({ n });
    await pair.far.close();
    await near.until(() => near.ends.length === 1, "an end", ends);
    assert.deepEqual(
      near.values,
      numbers.map((n) => ({ n })),
    );
  });

  promise(
    "an abrupt end is told exactly once, with a reason, and sending on does no harm",
    ["cut"],
    {},
    async (pair) => {
      const near = watch(pair.near, "near");
      watch(pair.far, "far");
      pair.far.send({ n: 1 });
      await near.until(() => near.values.length === 1, counted(1), delivers);
      pair.cut?.();
      await near.until(() => near.ends.length === 1, "an end", ends);
      assert.ok(near.ends[0]?.kind !== undefined);
      for (let i = 0; i < 100; i++) pair.near.send({ n: i });
      await pair.near.close();
      assert.equal(near.ends.length, 1);
    },
  );

  promise("paused input stops, and resumes without loss (G8)", ["pause"], {}, async (pair) => {
    const near = watch(pair.near, "near");
    const far = watch(pair.far, "far");
    pair.near.pause();
    // more than a medium keeps in flight: what was read already may still arrive
    const message = messageOf(16 * 1024);
    for (let i = 0; i < 300; i++) pair.far.send(message);
    pair.near.send({ echo: true });
    await far.until(() => far.values.length === 1, counted(1), delivers);
    assert.ok(
      near.values.length < 300,
      `${near.values.length} of 300 messages were read in spite of the pause`,
    );
    pair.near.resume();
    await near.until(() => near.values.length === 300, counted(300), resumes);
  });

  promise(
    "closing is idempotent, resolves for every caller, and the sink hears of the end at most once and of nothing else",
    [],
    {},
    async (pair) => {
      const near = watch(pair.near, "near");
      watch(pair.far, "far");
      await Promise.all([pair.near.close(), pair.near.close(new Error("twice"))]);
      await pair.near.close();
      pair.far.send({ late: true });
      await new Promise((resolve) => setTimeout(resolve));
      assert.deepEqual(near.values, []);
      assert.ok(near.ends.length <= 1, `the sink heard of ${near.ends.length} ends`);
      assert.equal(pair.near.send({ dropped: true }), true);
    },
  );

  promise("a transport may be closed before it was started", ["unopened"], {}, async (pair) => {
    const far = watch(pair.far, "far");
    await pair.near.close();
    await far.until(() => far.ends.length === 1, "an end", ends);
  });
}
