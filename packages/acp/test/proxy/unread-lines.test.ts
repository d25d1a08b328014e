// What passes unread, whole lines at once, arrives as if each line had been read.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type ChainPart, conductor, proxy } from "../../src/proxy.ts";
import { byteTransport } from "../../src/transport/byte-transport.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import { wrapSink, wrapTransport } from "../../src/transport/wrap-transport.ts";
import type { Transport } from "../../src/transport.ts";
import { bytePipe } from "../support/byte-pipe.ts";
import { type RawLinePeer, rawLinePeer, type Wire } from "../support/raw-line-peer.ts";
import { empty, handshake, hello, introductions, said, served, text } from "./chained.ts";

const encoder = new TextEncoder();

/** A peer by hand whose bytes come in chunks of any size. */
interface BytePeer extends RawLinePeer {
  inject(chunk: Uint8Array): void;
}

interface Way {
  /** Whether lines may pass unread. */
  readonly isFast: boolean;
  /** Counts lines that were passed on at once. */
  readonly passed: (lines: number) => void;
}

/** What is started in a chain, and the peer by hand at its other end. */
function byBytes({ isFast, passed }: Way): { readonly start: () => Transport; readonly peer: BytePeer } {
  const [near, far] = bytePipe();
  const transport = counting(byteTransport(near, { framing: "ndjson" }), passed);
  const peer = Object.assign(rawLinePeer(byteTransport(far, { framing: "ndjson" })), {
    inject: (chunk: Uint8Array) => near.inject(chunk),
  });
  return { start: () => (isFast ? transport : reading(transport)), peer };
}

/** The same transport, and every message is read. */
function reading(inner: Transport): Transport {
  return wrapTransport(inner, {
    start: (sink) => inner.start(wrapSink(sink, { message: (value, from) => sink.message(value, from) })),
  });
}

function counting(inner: Transport, passed: Way["passed"]): Transport {
  return wrapTransport(inner, {
    sendLines(lines) {
      passed(lines.text.split("\n").length - 1);
      return inner.sendLines?.(lines) ?? true;
    },
  });
}

/** A client, a chain that ends in an agent whose bytes are given, and what each of them gets. */
async function fromAgent(parts: readonly ChainPart[], way: Way) {
  const { start, peer: agent } = byBytes(way);
  const [clientEnd, chainEnd] = memoryPair();
  const chain = conductor([...parts, start]);
  chain.connect(counting(chainEnd, way.passed));
  const client = rawLinePeer(clientEnd);
  await handshake(client, Promise.resolve(agent));
  return { from: agent, to: [client, agent], chain };
}

/** A proxy whose conductor is given by bytes: what comes from its successor goes to the conductor, out of its envelope. */
async function fromConductor(way: Way) {
  const { start, peer } = byBytes(way);
  const part = proxy({ name: "one", version: "1" });
  part.connect(start());
  peer.request(0, "proxy/initialize", hello[1]);
  peer.answer(await peer.asked("proxy/successor"), introductions[1]);
  await peer.answered(0);
  return { from: peer, to: [peer], chain: { close: () => peer.close() } };
}

/** A component that passes nothing on: it gets what the agent says in envelopes. */
async function toComponent(way: Way) {
  const component = byBytes(way);
  const { start, peer: agent } = byBytes(way);
  const { client, chain } = served([component.start, start]);
  client.request(1, "initialize", hello[1]);
  const asked = await component.peer.asked("proxy/initialize");
  component.peer.request("i", "proxy/successor", { method: "initialize", params: asked.params });
  agent.answer(await agent.asked("initialize"), introductions[1]);
  await component.peer.answered("i");
  component.peer.answer(asked, introductions[1]);
  await client.answered(1);
  return { from: agent, to: [component.peer, agent], chain };
}

const done = '{"jsonrpc":"2.0","method":"_acme/done","params":{"last":true}}';
const isDone = ({ method, params }: Wire) =>
  method === "_acme/done" || (method === "proxy/successor" && params?.["method"] === "_acme/done");

/** All that each side got for these lines, in chunks that end at these places. */
async function gotFor(
  make: (way: Way) => Promise<{
    readonly from: BytePeer;
    readonly to: readonly RawLinePeer[];
    readonly chain: { close(): Promise<void> };
  }>,
  input: Uint8Array,
  cuts: readonly number[],
  way: Way,
): Promise<string[][]> {
  const { from, to, chain } = await make(way);
  const before = to.map(({ texts }) => texts.length);
  const places = [...new Set(cuts.map((cut) => cut % input.length))].sort((a, b) => a - b);
  let at = 0;
  for (const place of [...places, input.length]) {
    from.inject(input.subarray(at, place));
    at = place;
  }
  await to[0]?.next(isDone);
  // an answer to what was refused
  await new Promise(setImmediate);
  const got = to.map(({ texts }, i) => texts.slice(before[i]));
  await chain.close();
  return got;
}

const words = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.constantFrom('"', "\\", "}}", "{", "}\n{", '"id":1', "\\u0069d", "ü€🙂", "\u2028", "a".repeat(1_100)),
);
const update = words.map((each) => said("s", each));
const richUpdate = words.map((each) => ({
  sessionId: "s",
  update: {
    sessionUpdate: "tool_call",
    toolCallId: each,
    content: [{ type: "content", content: text(each) }],
  },
  _meta: { [each]: { id: each } },
}));
const params = fc.oneof({ weight: 6, arbitrary: update }, { weight: 2, arbitrary: richUpdate });
const notification = fc.tuple(
  params,
  fc.oneof({ weight: 5, arbitrary: fc.constant("session/update") }, fc.constantFrom("_acme/x", "initialize")),
);
const message = notification.map(([each, method]) =>
  JSON.stringify({ jsonrpc: "2.0", method, params: each }),
);
/** Members that make it another message, behind the params or before them. */
const odd = fc
  .tuple(
    message,
    fc.constantFrom(
      '"id":77',
      '"\\u0069d":"x"',
      '"method":"_acme/other"',
      '"jsonrpc":"1.0"',
      '"x":{}',
      '"x":{"y":[]},"id":5',
      '"result":{}',
      '"_meta":{"a":{}}',
    ),
    fc.constantFrom(" ", "", "\t"),
    fc.boolean(),
  )
  .map(([each, member, space, isLast]) =>
    isLast
      ? `${each.slice(0, -1)}${space},${space}${member}${space}}`
      : `{${space}${member},${each.slice(1)}`,
  );
const deep = fc
  .constantFrom(400, 600)
  .map(
    (n) =>
      `{"jsonrpc":"2.0","method":"session/update","params":{"x":${"[".repeat(n)}${"]".repeat(n)},"y":{}}}`,
  );
const noise = fc.constantFrom("", " ", "loading…", "{}", "[]", "[1,2]", '{"x":{}}', "}}", "null");
/** Not JSON, where it could not be taken for an update: one that begins and ends like one passes unread. */
const cutOff = fc
  .tuple(message, fc.nat(200))
  .map(([each, at]) => each.slice(0, at))
  .filter((each) => !each.endsWith("}}"));
const line = fc
  .oneof(
    { weight: 12, arbitrary: message },
    { weight: 3, arbitrary: odd },
    { weight: 1, arbitrary: deep },
    { weight: 1, arbitrary: noise },
    { weight: 1, arbitrary: cutOff },
  )
  .chain((each) => fc.constantFrom(each, each, each, each, `${each}\r`, ` ${each}`));
const brokenBytes = fc.constant(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d));
const asBytes = (lines: fc.Arbitrary<string>) =>
  fc
    .array(fc.oneof({ weight: 30, arbitrary: lines.map((each) => encoder.encode(each)) }, brokenBytes), {
      minLength: 10,
      maxLength: 50,
    })
    .map((each) => Buffer.concat(each.flatMap((bytes) => [bytes, Uint8Array.of(0x0a)])));
const inEnvelope = line.map((each) => {
  const inner = each.startsWith('{"jsonrpc":"2.0",') ? each.slice('{"jsonrpc":"2.0",'.length) : '"method":1}';
  return `{"jsonrpc":"2.0","method":"proxy/successor","params":{${inner}}`;
});
const cuts = fc.array(fc.nat(20_000), { maxLength: 12 });

const doneInEnvelope = `{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"_acme/done","params":{}}}`;

for (const [what, make, lines, last] of [
  ["an agent's client", (way: Way) => fromAgent([], way), line, done],
  ["a client behind two empty proxies", (way: Way) => fromAgent(empty(2), way), line, done],
  ["a component, in envelopes", toComponent, line, done],
  ["a conductor, out of envelopes", fromConductor, fc.oneof(inEnvelope, line), doneInEnvelope],
] as const) {
  test(`${what} gets the same, whether lines pass unread or are read one by one`, async () => {
    let passed = 0;
    await fc.assert(
      fc.asyncProperty(asBytes(lines), cuts, async (bytes, places) => {
        const input = Buffer.concat([bytes, encoder.encode(`${last}\n`)]);
        const count = (n: number): void => {
          passed += n;
        };
        const read = await gotFor(make, input, [], { isFast: false, passed: () => undefined });
        assert.deepEqual(await gotFor(make, input, places, { isFast: true, passed: count }), read);
      }),
      { numRuns: 400 },
    );
    assert.ok(passed > 1_000, `only ${passed} lines passed unread`);
  });
}

/** Counts the characters that are looked at while `work` runs. */
async function charsLookedAt(
  t: { after(undo: () => void): void },
  work: () => Promise<unknown>,
): Promise<number> {
  let chars = 0;
  const patch = (
    owner: object,
    name: string,
    cost: (self: unknown, args: unknown[], got: unknown) => number,
  ) => {
    const original = Reflect.get(owner, name) as (...args: unknown[]) => unknown; // a method of the language
    const value = function (this: unknown, ...args: unknown[]): unknown {
      const got = Reflect.apply(original, this, args);
      chars += cost(this, args, got);
      return got;
    };
    const undo = () =>
      Object.defineProperty(owner, name, { value: original, configurable: true, writable: true });
    Object.defineProperty(owner, name, { value, configurable: true, writable: true });
    t.after(undo);
    return undo;
  };
  const searched = (self: unknown, [, from = 0]: unknown[], got: unknown): number =>
    (got === -1 ? String(self).length : Number(got)) - Number(from) + 1;
  const whole = (self: unknown): number => String(self).length;
  const given = (_: unknown, [first]: unknown[]): number => String(first).length;
  const undos = [
    patch(String.prototype, "indexOf", searched),
    patch(String.prototype, "includes", whole),
    patch(String.prototype, "split", whole),
    patch(RegExp.prototype, "test", given),
    patch(JSON, "parse", given),
  ];
  await work();
  for (const undo of undos) undo();
  return chars;
}

const plain = JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: said("s", "hello") });
const rich = JSON.stringify({
  jsonrpc: "2.0",
  method: "session/update",
  params: { sessionId: "s", update: { sessionUpdate: "plan", entries: [{ a: {} }, { b: {} }] } },
});
const other = '{"jsonrpc":"2.0","method":"_acme/x","params":{}}';
const head = '{"jsonrpc":"2.0","method":"session/update","params":{';

/** The chain may read only: its client takes no lines. */
async function toReader(way: Way) {
  const { start, peer: agent } = byBytes(way);
  const [clientEnd, chainEnd] = memoryPair();
  const chain = conductor([...empty(1), start]);
  chain.connect(wrapTransport(chainEnd, { send: (sent, json) => chainEnd.send(sent, json) }));
  const client = rawLinePeer(clientEnd);
  await handshake(client, Promise.resolve(agent));
  return { from: agent, to: [client, agent], chain };
}

for (const [what, make, lines] of [
  ["updates", (way: Way) => fromAgent(empty(1), way), [plain]],
  ["updates for a client that takes no lines", toReader, [plain]],
  ["updates and other notifications in turns", (way: Way) => fromAgent(empty(1), way), [plain, other]],
  ["updates with much in them", (way: Way) => fromAgent(empty(1), way), [rich]],
  [
    "lines that only begin like updates",
    (way: Way) => fromAgent(empty(1), way),
    [plain, head, `${head}"}}`, `${head}{"id":1}}}`],
  ],
  ["long updates", (way: Way) => fromAgent(empty(1), way), [plain.replace("hello", "hello ".repeat(300))]],
  ["updates in envelopes", toComponent, [plain, rich, other]],
] as const) {
  test(`${what}: what is looked at grows as the input does`, async (t) => {
    const input = encoder.encode(
      `${`${lines.join("\n")}\n`.repeat(Math.ceil(400_000 / lines.join().length))}${done}\n`,
    );
    const way = { isFast: true, passed: () => undefined };
    const chars = await charsLookedAt(t, () => gotFor(make, input, [], way));
    assert.ok(chars < 25 * input.length, `${chars} characters for ${input.length}`);
  });
}

test("a peer that frames by Content-Length gets passed lines message by message", async () => {
  const [near, far] = bytePipe();
  const { start, peer: agent } = byBytes({ isFast: true, passed: () => undefined });
  conductor([start]).connect(byteTransport(near));
  const client = rawLinePeer(byteTransport(far, { framing: "content-length" }));
  await handshake(client, Promise.resolve(agent));
  const before = client.texts.length;
  agent.inject(encoder.encode(`${plain}\n${rich}\n${plain}\n${done}\n`));
  await client.next(isDone);
  assert.deepEqual(client.texts.slice(before), [plain, rich, plain, done]);
  await client.close();
});
