import assert from "node:assert/strict";
import { test } from "node:test";
import { quiet } from "../../test/support/peer-probe.ts";
import { agent, client } from "../index.ts";
import { transportContract } from "../testing/contracts/transport-contract.ts";
import { watch } from "../testing/contracts/watched-transport.ts";
import { type TextChannel, type TextReceiver, textTransport } from "./text-transport.ts";

/** One end of a queue with room for few texts. */
class QueueEnd implements TextChannel {
  peer: QueueEnd = this;
  readonly #inbox: string[] = [];
  #receiver: TextReceiver | undefined;
  #paused = false;
  #isPeerWaiting = false;
  #end: Parameters<TextReceiver["ended"]> | undefined;

  open(receiver: TextReceiver): void {
    this.#receiver = receiver;
    this.deliver();
  }

  write(text: string): boolean {
    const { peer } = this;
    peer.accept(text);
    peer.#isPeerWaiting ||= peer.#inbox.length > 2;
    return !peer.#isPeerWaiting;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.deliver();
  }

  async close(): Promise<void> {
    this.peer.end("the peer has closed");
  }

  accept(text: string): void {
    this.#inbox.push(text);
    queueMicrotask(() => this.deliver());
  }

  end(...reason: Parameters<TextReceiver["ended"]>): void {
    this.#end = reason;
    queueMicrotask(() => this.deliver());
  }

  deliver(): void {
    const receiver = this.#receiver;
    while (!this.#paused && receiver !== undefined && this.#inbox.length > 0)
      receiver.message(this.#inbox.shift() ?? "");
    if (this.#inbox.length > 0 || receiver === undefined) return;
    if (this.#isPeerWaiting) {
      this.#isPeerWaiting = false;
      queueMicrotask(() => this.peer.#receiver?.drained());
    }
    if (this.#end !== undefined) receiver.ended(...this.#end);
  }
}

function queue(): [QueueEnd, QueueEnd] {
  const ends: [QueueEnd, QueueEnd] = [new QueueEnd(), new QueueEnd()];
  [ends[0].peer, ends[1].peer] = [ends[1], ends[0]];
  return ends;
}

const noBytes = "a text channel carries whole texts, there are no bytes to split";

transportContract(
  { test, assert },
  "text channel",
  (limits) => {
    const [a, b] = queue();
    return {
      near: textTransport(a, { limits }),
      far: textTransport(b, { limits }),
      frameToNear: (text) => a.accept(text),
      halfClose: () => a.end({ kind: "eof" }),
      cut: () => a.end(),
    };
  },
  { exceptions: { bytes: noBytes } },
);

/** About ten lines, as an application would write them. */
function portTransport(port: MessagePort, options: Parameters<typeof textTransport>[1]) {
  return textTransport(
    {
      open(receiver) {
        port.addEventListener("message", ({ data }) => receiver.message(data));
        port.addEventListener("close", () => receiver.ended());
        port.start();
      },
      write: (text) => port.postMessage(text),
      close: () => port.close(),
    },
    options,
  );
}

transportContract(
  { test, assert },
  "message port",
  (limits) => {
    const { port1, port2 } = new MessageChannel();
    return {
      near: portTransport(port1, { limits }),
      far: portTransport(port2, { limits }),
      frameToNear: (text) => port2.postMessage(text),
    };
  },
  {
    exceptions: {
      bytes: noBytes,
      "half-close": "a port has no half-close",
      cut: "a port cannot break; its only end is a close",
      "back-pressure": "a port does not say how much is queued",
    },
  },
);

test("an agent and a client talk over a channel that delivers at once", async () => {
  const receivers: TextReceiver[] = [];
  const end = (mine: number): TextChannel => ({
    open(receiver) {
      receivers[mine] = receiver;
    },
    write: (text) => receivers[1 - mine]?.message(text),
    close: () => receivers[1 - mine]?.ended(),
  });
  const served = agent({ name: "a", version: "1", prompt: (turn) => turn.say(turn.text) });
  served.connect(textTransport(end(0)));
  const connection = await client({ name: "c", version: "1" }).connect(textTransport(end(1)));
  const session = await connection.newSession({ cwd: "/project" });
  assert.equal(await session.prompt("hello").text(), "hello");
  await connection.close();
  await served.close();
});

test("a channel that lacks a method is refused at once", () => {
  const whole: TextChannel = { open: () => undefined, write: () => true, close: () => undefined };
  for (const wrong of [undefined, null, {}, { ...whole, write: 5 }, { ...whole, close: undefined }])
    assert.throws(() => textTransport(wrong as never), {
      name: "TypeError",
      message: /^textTransport: expected a channel with open, write and close, got /,
    });
});

for (const method of ["open", "write"] as const) {
  test(`a channel that fails to ${method} ends the transport, with the cause, and is closed once`, async () => {
    const broken = new Error("no paper");
    let closes = 0;
    const transport = textTransport({
      open: () => undefined,
      write: () => undefined,
      close: () => void closes++,
      [method]() {
        throw broken;
      },
    });
    const watched = watch(transport);
    transport.send({ n: 1 });
    await watched.until(() => watched.ends.length === 1);
    const message = `the channel failed to ${method}: no paper`;
    assert.deepEqual(watched.ends, [{ kind: "closed", message, cause: broken }]);
    assert.equal(transport.send({ n: 2 }), true);
    await transport.close();
    assert.equal(closes, 1);
  });
}

test("what arrives during a pause is kept within bounds, in order and before the end", async () => {
  const received: TextReceiver[] = [];
  const channel: TextChannel = {
    open: (receiver) => void received.push(receiver),
    write: () => undefined,
    close: () => undefined,
  };
  const transport = textTransport(channel, { limits: { maxQueuedBytes: 100 } });
  const watched = watch(transport);
  await quiet();
  transport.pause();
  for (const n of [1, 2, 3]) received[0]?.message(`{"n":${n}}`);
  received[0]?.ended("it is over");
  received[0]?.message('{"late":true}');
  await quiet();
  assert.deepEqual([watched.values, watched.ends], [[], []]);
  transport.resume();
  await watched.until(() => watched.ends.length === 1);
  assert.deepEqual(watched.values, [{ n: 1 }, { n: 2 }, { n: 3 }]);
  assert.deepEqual(watched.ends, [{ kind: "closed", message: "it is over" }]);

  const flooded = textTransport(channel, { limits: { maxQueuedBytes: 100 } });
  const victim = watch(flooded);
  await quiet();
  flooded.pause();
  received[1]?.message(JSON.stringify({ text: "x".repeat(100) }));
  assert.equal(victim.ends[0]?.kind, "overflow");
});

test("what is no text is refused as a message, and does no harm", async () => {
  let receiver: TextReceiver | undefined;
  const transport = textTransport({
    open(given) {
      receiver = given;
    },
    write: () => undefined,
    close: () => undefined,
  });
  const watched = watch(transport);
  await quiet();
  receiver?.message(new Uint8Array(4) as never);
  receiver?.message('{"good":1}');
  assert.deepEqual([watched.faults.map(({ kind }) => kind), watched.values], [["parse"], [{ good: 1 }]]);
  await transport.close();
});
