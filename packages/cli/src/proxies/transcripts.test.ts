// Empty proxies, and the proxy `tap`, change nothing that a client or an agent can see, in any edition.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { agent, client, type Editions } from "@parley/acp";
import { conductor, proxy, type WatchHops } from "@parley/acp/proxy";
import { memoryPair, type Transport, wrapSink, wrapTransport } from "@parley/acp/transport";
import { pharo, scoped } from "@parley/dialects";
import { proxyArguments } from "../proxy/proxy-arguments.ts";
import { tap } from "./tap.ts";

type Part = Parameters<typeof conductor>[0][number];

const spoken = {
  v1: ["v1"],
  v2: ["v2"],
  scoped: [scoped()],
  pharo: [pharo()],
} as const satisfies Record<string, Editions>;

/** The messages that pass one end of a chain, separately for each direction. */
function recorded(inner: Transport) {
  const sent: object[] = [];
  const got: unknown[] = [];
  const transport = wrapTransport(inner, {
    start: (sink) =>
      inner.start(
        wrapSink(sink, {
          message(value, text) {
            got.push(JSON.parse(text));
            sink.message(value, text);
          },
        }),
      ),
    send(message, text) {
      sent.push(structuredClone(message));
      return inner.send(message, text);
    },
  });
  return { transport, sent, got };
}

const isTime = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

/** Numbers all ids in the order in which they appear, because each hop has its own ids, and those of sessions are random. */
function comparable(messages: readonly unknown[]): unknown {
  const ids = new Map<string, string>();
  const named = (id: string): string => {
    const known = ids.get(id) ?? `id ${ids.size + 1}`;
    ids.set(id, known);
    return known;
  };
  return JSON.parse(
    JSON.stringify(messages, (key, value: unknown) => {
      if (key === "duration" || (typeof value === "string" && isTime.test(value))) return "some time";
      return /(?:^i|I)d$/.test(key) && value != null ? named(JSON.stringify(value)) : value;
    }),
  );
}

function speaking(editions: Editions) {
  return agent({
    name: "a",
    version: "1",
    editions,
    session: {
      open: (session) => session.setAvailableCommands([{ name: "shout", description: "Shouts" }]),
    },
    async prompt(turn) {
      if (turn.text === "wait") {
        await turn.say("waiting");
        await new Promise((resolve) => turn.signal.addEventListener("abort", resolve, { once: true }));
        return;
      }
      await turn.think("hm");
      await turn.plan([{ content: "one", priority: "high", status: "pending" }]);
      const allowed = await turn.requestPermission({ title: "Shout" });
      await turn.tool({ title: "Shout", kind: "other" }, () => "done");
      for (let i = 0; i < 50; i++) await turn.say(`${i} ${turn.text} ${allowed?.optionId} `);
    },
  });
}

async function transcript(editions: Editions, parts: readonly Part[], watch?: WatchHops): Promise<unknown> {
  const [clientEnd, chainEnd] = memoryPair();
  const [agentEnd, far] = memoryPair();
  const front = recorded(clientEnd);
  const back = recorded(far);
  speaking(editions).connect(back.transport);
  const chain = conductor([...parts, () => agentEnd], { editions, ...(watch && { watch }) });
  chain.connect(chainEnd);
  const app = client({
    name: "c",
    version: "1",
    editions,
    requestPermission: ({ options }) => options[0]?.optionId,
  });
  const connection = await app.connect(front.transport);
  const session = await connection.newSession({ cwd: "/" });
  assert.equal((await session.prompt("hi")).stopReason, "end_turn");
  const waits = Promise.withResolvers<void>();
  session.onUpdate((update) => {
    if (JSON.stringify(update).includes("waiting")) waits.resolve();
  });
  const waiting = session.prompt("wait");
  await waits.promise;
  session.cancel();
  assert.equal((await waiting).stopReason, "cancelled");
  await connection.close();
  await chain.close();
  return {
    client: { sent: comparable(front.sent), got: comparable(front.got) },
    agent: { sent: comparable(back.sent), got: comparable(back.got) },
  };
}

const empty = (n: number, editions: Editions): Part[] =>
  Array.from({ length: n }, (_, i) => proxy({ name: `p${i}`, version: "1", editions }));

/** Puts the last components into a chain of their own, as a program would have. */
function nested(n: number, editions: Editions): Part[] {
  const inner = conductor(empty(n - 1, editions));
  const asProgram = () => {
    const [near, far] = memoryPair();
    inner.connect(far);
    return near;
  };
  return [...empty(1, editions), asProgram];
}

for (const [name, editions] of Object.entries(spoken)) {
  test(`the transcript through 0 to 3 empty proxies, flat and nested, watched and not, is the same (${name}; P24, P25)`, async () => {
    const expected = await transcript(editions, []);
    assert.ok(JSON.stringify(expected).includes("49 hi"));
    const watch = (): void => undefined;
    for (const n of [0, 1, 2, 3]) {
      for (const parts of [empty(n, editions), ...(n > 1 ? [nested(n, editions)] : [])]) {
        assert.deepEqual(await transcript(editions, parts), expected, `${n} proxies`);
        assert.deepEqual(await transcript(editions, parts, watch), expected, `${n} proxies, watched`);
      }
    }
  });

  test(`the proxy tap records what passes, and the transcript is the same (${name})`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "parley-tap-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const warned: string[] = [];
    const host = {
      folder,
      warn: (text: string) => void warned.push(text),
      reach: () => Promise.reject(new Error("nothing is reached here")),
      secrets: () => [],
    };
    const out = join(folder, "trace.ndjson");
    const tapped = tap.create(proxyArguments(tap, ["--out", out], "--proxy"), host);
    const expected = await transcript(editions, []);
    assert.deepEqual(
      await transcript(editions, [...empty(1, editions), tapped, ...empty(1, editions)]),
      expected,
    );
    assert.match(readFileSync(out, "utf8"), /49 hi/);
    assert.deepEqual(warned, [`recording to ${out}`]);
  });
}
