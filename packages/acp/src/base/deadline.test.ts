import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { abortable, withTimeout } from "@parley/acp/jsonrpc";

const never = new Promise<string>(() => undefined);

test("a wait ends with its promise, its signal or its time, whichever is first, and leaves no listener", async () => {
  const { signal } = new AbortController();
  assert.equal(await withTimeout(Number.POSITIVE_INFINITY, Promise.resolve("done"), signal), "done");
  assert.equal(await withTimeout(1, never, signal), undefined);
  // setTimeout would fire at once for such a number
  assert.equal(
    await withTimeout(
      2 ** 40,
      new Promise(setImmediate).then(() => "late"),
      signal,
    ),
    "late",
  );
  await assert.rejects(withTimeout(60_000, Promise.reject(new Error("failed")), signal), /failed/);
  assert.equal(getEventListeners(signal, "abort").length, 0);
  const stop = new AbortController();
  const stopped = withTimeout(Number.POSITIVE_INFINITY, never, stop.signal);
  stop.abort();
  assert.equal(await stopped, undefined);
  assert.equal(await withTimeout(60_000, never, stop.signal), undefined, "it has aborted before");
  await assert.rejects(withTimeout(Number.NaN, never), /expected a number of milliseconds/);
});

test("an abort rejects with the reason of the signal, or with the error that was asked for", async () => {
  const reason = new Error("no longer wanted");
  const stop = new AbortController();
  const waits = [
    abortable(stop.signal, never),
    abortable(stop.signal, never, ({ reason }) => new Error("aborted", { cause: reason })),
  ];
  stop.abort(reason);
  await assert.rejects(waits[0] ?? never, reason);
  await assert.rejects(waits[1] ?? never, { message: "aborted", cause: reason });
  await assert.rejects(abortable(stop.signal, Promise.resolve("too late")), reason);
  assert.equal(await abortable(undefined, Promise.resolve("done")), "done");
  const { signal } = new AbortController();
  assert.equal(await abortable(signal, Promise.resolve("done")), "done");
  assert.equal(getEventListeners(signal, "abort").length, 0);
});
