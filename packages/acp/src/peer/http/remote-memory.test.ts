// What a client sends takes bounded memory.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { address, RemoteProbe } from "../../../test/support/remote-probe.ts";
import type { Transport } from "../../transport.ts";
import { acpProtocol } from "./remote-server.ts";

setFlagsFromString("--expose_gc");
const collectGarbage = runInNewContext("gc") as () => void; // as: the flag makes it

/** An agent that answers initialize, and then does what the test says. */
class HeldAgent {
  transport: Transport | undefined;
  got = 0;

  readonly connect = (transport: Transport) => {
    this.transport = transport;
    transport.start({
      message: (value) => {
        const { id, method } = value as { id?: number; method?: string }; // what the test sends
        if (method === "initialize") return void transport.send({ jsonrpc: "2.0", id, result: {} });
        this.got++;
        transport.pause();
      },
      idle: () => undefined,
      reject: () => undefined,
      drain: () => undefined,
      end: () => undefined,
    });
    return { close: () => transport.close() };
  };
}

test("a body in many small chunks takes memory by its bytes (N241)", async () => {
  const probe = new RemoteProbe();
  const chunks: WeakRef<Uint8Array>[] = [];
  let kept: number | undefined;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (chunks.length === 1_000) {
        // what was read is let go only between tasks
        await new Promise((resolve) => setTimeout(resolve, 0));
        collectGarbage();
        kept = chunks.filter((chunk) => chunk.deref() !== undefined).length;
        controller.enqueue(new TextEncoder().encode("{}"));
        return controller.close();
      }
      const chunk = new TextEncoder().encode(" ");
      chunks.push(new WeakRef(chunk));
      controller.enqueue(chunk);
    },
  });
  // duplex: required where the body is a stream, and missing in the types
  const init = { method: "POST", headers: { "content-type": "application/json" }, body, duplex: "half" };
  const { status } = await probe.server.fetch(new Request(address, init as RequestInit));
  assert.equal(status, 400, "it is a message without a connection");
  assert.ok(kept !== undefined && kept < 100, `${kept} of 1,000 chunks are kept`);
  await probe.server.close();
});

test("what an agent has read makes room for what is posted (H6)", async () => {
  const agent = new HeldAgent();
  const probe = new RemoteProbe({
    connect: agent.connect,
    limits: { maxQueuedBytes: 10_000, highWaterBytes: 1_000 },
  });
  await probe.initialize();
  const large = () => probe.request("_x", { text: "x".repeat(3_000) });
  const statuses = [];
  // one is read; four wait, and one too many is refused
  for (let n = 0; n < 6; n++) statuses.push((await probe.post(large(), probe.names)).status);
  assert.deepEqual(statuses, [202, 202, 202, 202, 202, 503]);
  // it reads one at a time, and never catches up
  for (let n = 2; n < 20; n++) {
    agent.transport?.resume();
    await new Promise(setImmediate);
    assert.equal(agent.got, n);
    assert.equal((await probe.post(large(), probe.names)).status, 202, `message ${n}`);
  }
  await probe.server.close();
});

test("long ids are refused, and so are more requests than an agent may have open (G8)", async () => {
  const agent = new HeldAgent();
  const probe = new RemoteProbe({ connect: agent.connect });
  await probe.initialize();
  const long = await probe.post({ ...probe.request("_x"), id: "x".repeat(1_025) }, probe.names);
  assert.match(`${long.status} ${long.body}`, /^400 .*at most 1024 characters, got 1025/);
  const routing = acpProtocol.routing();
  const ask = (id: number) => routing.received({ id, method: "_x" }, undefined);
  for (let n = 0; n < 16_384; n++) assert.equal(ask(n), undefined);
  assert.match(ask(16_384) ?? "", /at most 16384 requests without an answer/);
  assert.equal(routing.received({ method: "_notice" }, undefined), undefined);
  routing.streamOf({ id: 7, result: {} });
  assert.equal(ask(16_384), undefined, "an answer makes room");
  await probe.server.close();
});
