// Bad inputs that take more than one exchange: floods, rates, and the end of a connection.

import assert from "node:assert/strict";
import { inSoak } from "../support/soak.ts";
import {
  canary,
  echo,
  echoed,
  notification,
  request,
  type TransportName,
  transportNames,
} from "./bad-input.ts";
import { readReply, takeReport } from "./run-case.ts";
import type { Role } from "./subject.ts";
import type { LinkOptions, Wire } from "./wire.ts";

export interface Scenario {
  readonly ids: readonly string[];
  readonly name: string;
  readonly on: readonly TransportName[];
  readonly roles: readonly Role[];
  readonly options?: Partial<LinkOptions> & { readonly byteByByte?: boolean };
  /** The kind of reason with which the connection ends. */
  readonly closes?: string;
  readonly run: (wire: Wire, role: Role) => Promise<void>;
}

const both: readonly Role[] = ["agent", "client"];

export async function isServed(wire: Wire): Promise<void> {
  wire.send(request('"probe"', "_test/echo", {}));
  assert.deepEqual(readReply(await wire.next()), { id: "probe", result: {} });
}

const noise: readonly Scenario[] = [
  {
    ids: ["N002", "N003"],
    name: "99 lines of noise before the first message, and any number after it, are skipped",
    on: transportNames,
    roles: ["client"],
    async run(wire) {
      for (let i = 0; i < 99; i++) wire.send(i % 2 === 0 ? "Using config" : "[20:51:04] Using config");
      await isServed(wire);
      for (let i = 0; i < 200; i++) wire.send("chatter");
      await isServed(wire);
      assert.equal((await takeReport(wire)).counters.noise, 299);
    },
  },
  {
    ids: ["N002", "N003"],
    name: "100 lines of noise without a message end a client's connection, and its requests with it",
    on: transportNames,
    roles: ["client"],
    closes: "protocol",
    async run(wire) {
      for (let i = 0; i < 100; i++) wire.send(i % 2 === 0 ? "Using config" : "[20:51:04] Using config");
      assert.equal((await wire.ended).kind, "protocol");
    },
  },
  {
    ids: ["N001"],
    name: "of errors with id null ten a second are sent, the others are counted",
    on: transportNames,
    roles: both,
    options: { limits: {} },
    async run(wire) {
      for (let i = 0; i < 1_000; i++) wire.send('{"jsonrpc":"2.0","id":7,"meth');
      wire.send(request('"probe"', "_test/echo", {}));
      let sent = 0;
      for (;;) {
        const reply = readReply(await wire.next()) as { id: unknown };
        if (reply.id === "probe") break;
        sent++;
      }
      const { refused, unsentErrors } = (await takeReport(wire)).counters;
      assert.equal(refused, 1_000);
      assert.equal(sent, 1_000 - unsentErrors);
      // a thousand lines take far less than the ten seconds in which a hundred may be sent
      assert.ok(sent >= 10 && sent <= 100, `${sent} were sent`);
    },
  },
];

const limit = 16_384;

const pipelined: readonly Scenario[] = [
  {
    ids: ["N082"],
    name: "of far too many requests at once 16,384 run; answers and cancels are read all the same",
    on: transportNames,
    roles: both,
    async run(wire, role) {
      // what a socket or a pipe adds is proved on stdio with all of the rule's 100,000
      const total = wire.stream === undefined ? 20_000 : 100_000;
      wire.send(request('"ask"', "_test/ask"));
      const question = readReply(await wire.next()) as { id: number };
      const before = role === "agent" ? await memoryOf(wire) : undefined;
      for (let i = 0; i < total; i++) wire.send(request(String(i), "_test/hold"));
      // the ask runs too
      const running = limit - 1;
      await expectSeries(wire, running, total, {
        error: { code: -32065, data: { reason: "rate_limited", scope: "connection" } },
      });
      wire.send(notification("session/cancel", { sessionId: "s" }));
      wire.send(notification("$/cancel_request", { requestId: 7 }));
      assert.deepEqual(readReply(await wire.next()), { id: 7, error: { code: -32800 } });
      wire.send(`{"jsonrpc":"2.0","id":${question.id},"result":"answered"}`);
      assert.deepEqual(readReply(await wire.next()), { id: "ask", result: { result: "answered" } });
      const after = before === undefined ? undefined : await memoryOf(wire);
      wire.send(notification("_test/release", {}));
      await expectSeries(wire, 0, 7, { result: "released" });
      await expectSeries(wire, 8, running, { result: "released" });
      await isServed(wire);
      const { calls } = await takeReport(wire);
      assert.equal(calls["_test/hold"], running);
      if (role === "agent") assert.equal(calls["session/cancel"], 1);
      if (before !== undefined && after !== undefined) {
        const grown = after.peakBytes - before.peakBytes;
        assert.ok(grown <= 64 * 1024 * 1024, `memory grew by ${grown} bytes`);
      }
    },
  },
  {
    ids: ["N082"],
    name: "of 300 requests of a session 256 run, and another session is not affected",
    on: transportNames,
    roles: both,
    async run(wire) {
      for (let i = 0; i < 300; i++) wire.send(request(String(i), "_test/hold", { sessionId: canary }));
      await expectSeries(wire, 256, 300, {
        error: { code: -32065, data: { reason: "rate_limited", scope: "session" } },
      });
      wire.send(request("300", "_test/echo", { sessionId: "other" }));
      assert.deepEqual(readReply(await wire.next()), { id: 300, result: { sessionId: "other" } });
      wire.send(notification("_test/release", {}));
      await expectSeries(wire, 0, 256, { result: "released" });
      wire.send(request("301", "_test/echo", { sessionId: canary }));
      assert.deepEqual(readReply(await wire.next()), { id: 301, result: { sessionId: canary } });
    },
  },
];

/** Answers with the ids from `from` up to `to`, in order, all alike. Compared as text: there are 100,000 of them. */
async function expectSeries(wire: Wire, from: number, to: number, answer: object): Promise<void> {
  const first = await wire.next();
  assert.deepEqual(readReply(first), { id: from, ...answer });
  const [before, after] = first.split(`"id":${from}`);
  for (let id = from + 1; id < to; id++) {
    const text = await wire.next();
    if (text !== `${before}"id":${id}${after}`) assert.deepEqual(readReply(text), { id, ...answer });
  }
}

/** Only the subject in a process of its own knows; the others share their memory with the test. */
export async function memoryOf(wire: Wire): Promise<{ peakBytes: number; usedBytes: number } | undefined> {
  if (wire.stream?.lastWords === undefined) return undefined;
  wire.send(request('"memory"', "_test/memory"));
  for (;;) {
    const reply = readReply(await wire.next()) as {
      id: unknown;
      result: { peakBytes: number; usedBytes: number };
    };
    if (reply.id === "memory") return reply.result;
  }
}

function streamOf(wire: Wire) {
  assert.ok(wire.stream, "this scenario needs a stream of bytes");
  return wire.stream;
}

const stdio = { on: ["stdio"] } as const;

const streams: readonly Scenario[] = [
  {
    ids: ["N004"],
    name: "a connection whose first bytes are a Content-Length header is answered in kind",
    ...stdio,
    roles: both,
    async run(wire) {
      const body = echo("4", "é");
      streamOf(wire).write(`Content-Length: ${new TextEncoder().encode(body).length}\r\n\r\n${body}`);
      const answer = '{"jsonrpc":"2.0","id":4,"result":{"text":"é"}}';
      assert.equal(await wire.next(), `Content-Length: ${new TextEncoder().encode(answer).length}\r`);
      assert.equal(await wire.next(), "\r");
      // nothing ends the body: the next header follows directly on it
      streamOf(wire).write(`Content-Length: ${echo("5").length}\r\n\r\n${echo("5")}`);
      assert.ok((await wire.next()).startsWith(`${answer}Content-Length: `));
    },
  },
  {
    ids: ["N025"],
    name: "more than 64 MiB without a line feed end the connection, and no more than the limit is held",
    ...stdio,
    roles: both,
    closes: "too_large",
    async run(wire, role) {
      const before = role === "agent" ? await memoryOf(wire) : undefined;
      const chunk = new Uint8Array(1024 * 1024).fill(0x78);
      for (let i = 0; i < 64; i++) streamOf(wire).write(chunk);
      streamOf(wire).write("x");
      assert.equal((await wire.ended).kind, "too_large");
      const lastWords = await wire.stream?.lastWords;
      if (before === undefined || lastWords === undefined) return;
      const grown = lastWords.peakBytes - before.peakBytes;
      // the limit, a mebibyte, and what the collector has not got round to
      assert.ok(grown <= (32 + 1 + 12) * 1024 * 1024, `memory grew by ${grown} bytes`);
    },
  },
  {
    ids: ["N026"],
    name: `a message of ${inSoak("100 KB", "1 MB")} that comes byte by byte`,
    ...stdio,
    roles: both,
    options: { byteByByte: true },
    async run(wire) {
      const text = "b".repeat(inSoak(100_000, 1_000_000));
      wire.send(request("26", "_test/size", { value: text }));
      assert.deepEqual(readReply(await wire.next()), { id: 26, result: text.length });
    },
  },
  {
    ids: ["N027"],
    name: "a last request without line feed is answered before the end",
    ...stdio,
    roles: both,
    closes: "closed",
    async run(wire) {
      streamOf(wire).write(`${echo("1")}\n${echo("27")}`);
      streamOf(wire).end();
      assert.deepEqual(readReply(await wire.next()), echoed(1));
      assert.deepEqual(readReply(await wire.next()), echoed(27));
      await assert.rejects(wire.next());
      assert.equal((await wire.ended).kind, "closed");
      const lastWords = await wire.stream?.lastWords;
      if (lastWords !== undefined) assert.equal(lastWords.exitCode, 0);
    },
  },
  {
    ids: ["N028"],
    name: "a message that the end of input cuts off is discarded and counted",
    ...stdio,
    roles: both,
    closes: "closed",
    async run(wire) {
      streamOf(wire).write(`${echo("1")}\n${echo("28").slice(0, -4)}`);
      streamOf(wire).end();
      assert.deepEqual(readReply(await wire.next()), echoed(1));
      await assert.rejects(wire.next());
      assert.equal((await wire.ended).kind, "closed");
      const lastWords = await wire.stream?.lastWords;
      if (lastWords === undefined) return;
      assert.equal(lastWords.report.counters.refused, 1);
      assert.deepEqual(lastWords.report.calls, { "_test/echo": 1 });
      assert.equal(lastWords.exitCode, 0);
    },
  },
  {
    ids: ["N029"],
    name: "the end of input cancels a running prompt, and its answer still comes",
    ...stdio,
    roles: ["agent"],
    closes: "closed",
    async run(wire) {
      const prompt = [{ type: "text", text: "hello" }];
      wire.send(request("29", "session/prompt", { sessionId: "slow", prompt }));
      await isServed(wire);
      streamOf(wire).end();
      assert.deepEqual(readReply(await wire.next()), { id: 29, result: { stopReason: "cancelled" } });
      await assert.rejects(wire.next());
      assert.equal((await wire.stream?.lastWords)?.exitCode, 0);
    },
  },
  {
    ids: ["N029"],
    name: "the end of an agent's output cancels what the client does for it",
    ...stdio,
    roles: ["client"],
    closes: "closed",
    async run(wire) {
      wire.send(request("29", "_test/hold"));
      await isServed(wire);
      streamOf(wire).end();
      assert.deepEqual(readReply(await wire.next()), { id: 29, error: { code: -32800 } });
      await assert.rejects(wire.next());
      assert.equal((await wire.ended).kind, "closed");
    },
  },
];

export const scenarios: readonly Scenario[] = [...noise, ...pipelined, ...streams];
