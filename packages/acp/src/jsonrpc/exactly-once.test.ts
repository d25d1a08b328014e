import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { connectionOver, quiet } from "../../test/support/connection-probe.ts";
import { memoryPair } from "../transport/memory.ts";
import type { Connection } from "./connection.ts";

// Every handler's answer is under the control of the script, so that answers, cancels, timeouts and
// closes meet in all orders. Small pipes make back-pressure part of the game.

const side = fc.constantFrom<0 | 1>(0, 1);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("request" as const), side, size: fc.nat(400) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("notify" as const), side, size: fc.nat(400) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("finish" as const), side, which: fc.nat(20), how: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cancel" as const), side, which: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("batch" as const),
      side,
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("turn" as const), side }) },
);

interface Side {
  connection: Connection;
  asked: number;
  outcomes: number[];
  cancels: AbortController[];
  finish: ((how: number) => void)[];
  noted: number;
  seen: number[];
}

function makeSides(): [Side, Side] {
  const limits = { highWaterBytes: 700, maxQueuedBytes: 10_000_000 };
  const make = (transport: Parameters<typeof connectionOver>[0]): Side => {
    const state: Omit<Side, "connection"> = {
      asked: 0,
      outcomes: [],
      cancels: [],
      finish: [],
      noted: 0,
      seen: [],
    };
    const connection = connectionOver(transport, {
      drainMs: 0,
      notification: (_method, params) => void state.seen.push((params as { n: number }).n) as undefined,
      request(_method, params, request) {
        const { now } = params as { now: boolean };
        if (now) return "x".repeat(300);
        return new Promise((resolve, reject) => {
          state.finish.push((how) => {
            if (how === 0) resolve("y".repeat(300));
            else if (how === 1) reject(new Error("failed"));
            else if (how === 2) resolve(1n);
            else reject(request.signal.reason ?? new Error("not cancelled"));
          });
        });
      },
    });
    return Object.assign(state, { connection });
  };
  const [a, b] = memoryPair({ limits });
  return [make(a), make(b)];
}

function ask(from: Side, promise: Promise<unknown>): void {
  const index = from.asked++;
  from.outcomes[index] = 0;
  const count = () => {
    from.outcomes[index] = (from.outcomes[index] ?? 0) + 1;
  };
  promise.then(count, count);
}

function signalFor(from: Side): AbortSignal {
  const controller = new AbortController();
  from.cancels.push(controller);
  return controller.signal;
}

test("requests, notifications, cancels and closes in any order: one outcome per request, every notification once and in order (G1, G4, G8)", async () => {
  const script = fc.array(step, { minLength: 1, maxLength: 60 });
  const closing = fc.constantFrom("left", "right", "both", "none");
  await fc.assert(
    fc.asyncProperty(script, closing, fc.nat(3), async (steps, closer, grace) => {
      const sides = makeSides();
      for (const current of steps) {
        const me = sides[current.side];
        if (current.kind === "request") {
          const options = {
            signal: signalFor(me),
            cancelGraceMs: grace === 0 ? 0 : Number.POSITIVE_INFINITY,
          };
          const params = { now: current.size % 2 === 0, text: "z".repeat(current.size) };
          ask(me, me.connection.request("work", params, options));
        } else if (current.kind === "batch") {
          const calls = Array.from({ length: current.count }, (_, i) => ({
            method: "work",
            params: { now: i % 2 === 0 },
            options: { signal: signalFor(me) },
          }));
          for (const answer of me.connection.batch(calls)) ask(me, answer ?? Promise.resolve());
        } else if (current.kind === "notify") {
          me.connection.notify("n", { n: me.noted++, text: "z".repeat(current.size) })?.catch(assert.fail);
        } else if (current.kind === "finish") {
          me.finish[current.which % Math.max(1, me.finish.length)]?.(current.how);
        } else if (current.kind === "cancel") {
          me.cancels[current.which % Math.max(1, me.cancels.length)]?.abort();
        } else {
          await quiet();
        }
      }
      const [left, right] = sides;
      if (closer === "none") {
        // let everything finish: nothing may be stuck behind back-pressure
        for (let round = 0; round < 3; round++) {
          await quiet();
          for (const { finish } of sides) for (const end of finish) end(0);
        }
        await quiet();
      } else {
        const closers = closer === "both" ? sides : [closer === "left" ? left : right];
        await Promise.all(closers.map(({ connection }) => connection.close()));
      }
      for (const { outcomes } of closer === "none" ? sides : []) {
        assert.ok(
          outcomes.every((count) => count === 1),
          `outcomes before any close: ${outcomes}`,
        );
      }
      await Promise.all(sides.map(({ connection }) => connection.close()));
      await quiet();
      for (const [me, other] of [
        [left, right],
        [right, left],
      ] as const) {
        assert.ok(
          me.outcomes.every((count) => count === 1),
          `outcomes: ${me.outcomes}`,
        );
        const expected = [...Array(me.noted).keys()];
        if (closer === "none") assert.deepEqual(other.seen, expected);
        else
          assert.deepEqual(
            other.seen,
            expected.slice(0, other.seen.length),
            "a prefix, in order, without gaps",
          );
        assert.equal(me.connection.inFlight, 0);
      }
    }),
    { numRuns: 150 },
  );
});
