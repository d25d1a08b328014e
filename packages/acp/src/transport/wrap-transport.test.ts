import assert from "node:assert/strict";
import { test } from "node:test";
import { wrapSink, wrapTransport } from "@parley/acp/transport";
import type { Transport } from "../index.ts";
import type { Sink } from "../transport.ts";

type Method = (...args: unknown[]) => unknown;

/** Methods of these names that note their calls and return their names. */
function noting(names: readonly string[]) {
  const calls: unknown[] = [];
  const note = (name: string): Method => {
    return (...args) => {
      calls.push([name, ...args]);
      return name;
    };
  };
  return { calls, members: Object.fromEntries(names.map((name) => [name, note(name)])) };
}

// a new member of an interface must be added here, or this does not compile
const message = { jsonrpc: "2.0" };
const transportCalls: Record<keyof Required<Transport>, unknown[]> = {
  start: ["sink"],
  send: [message, "text"],
  sendLines: ["lines\n"],
  pause: [],
  resume: [],
  endOutput: [],
  attachment: [],
  close: [new Error("reason")],
};
const sinkCalls: Record<keyof Required<Sink>, unknown[]> = {
  message: [message, "text"],
  unread: ["lines\n", 0, 5],
  idle: [],
  reject: ["fault"],
  drain: [],
  end: ["reason"],
};

test("a wrapped transport and a wrapped sink forward every member", () => {
  const cases: [(inner: never) => object, Record<string, unknown[]>][] = [
    [(inner) => wrapTransport(inner, {}), transportCalls],
    [(inner) => wrapSink(inner, {}), sinkCalls],
  ];
  for (const [wrap, all] of cases) {
    const { calls, members } = noting(Object.keys(all));
    const wrapped = wrap(members as never) as Record<string, Method>;
    for (const [name, args] of Object.entries(all)) {
      wrapped[name]?.(...args);
      assert.deepEqual(calls.at(-1), [name, ...args]);
    }
  }
});

test("an override replaces a member, and members that the inner transport lacks stay absent", () => {
  const { calls, members } = noting(["start", "send", "sendLines", "pause", "resume", "close"]);
  const wrapped = wrapTransport(members as never, { send: () => false });
  assert.equal(wrapped.send(message), false);
  assert.deepEqual(calls, []);
  assert.deepEqual([wrapped.sendLines, wrapped.endOutput], [undefined, undefined]);
});
