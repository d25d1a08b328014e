import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { FaultProxy } from "./fault-proxy.ts";
import { Random } from "./random.ts";

/** Picks these, one after the other; cuts as early as possible. */
class Scripted extends Random {
  readonly #picks: string[];

  constructor(picks: string[]) {
    super(0);
    this.#picks = picks;
  }

  override below(): number {
    return 0;
  }

  override pick<Item>(items: readonly Item[]): Item {
    const wanted = this.#picks.shift();
    return items.find((item) => item === wanted) ?? super.pick(items);
  }
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

test("a connection that is half closed and reset at the same time leaves no socket behind", {
  timeout: 10_000,
}, async (t) => {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer((socket) => accepted.resolve(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  const proxy = await new FaultProxy(
    (server.address() as AddressInfo).port,
    new Scripted(["half-close", "reset"]),
  ).listen();
  const near = connect(proxy.port, "127.0.0.1").on("error", () => undefined);
  const far = await accepted.promise;
  far.resume();
  near.write("hello");
  await once(far, "data");
  proxy.arm(2);
  const closed = Promise.all([near.resume(), far].map(closeOf));
  // the proxy finds both in one turn, so that it resets a socket whose end is under way
  near.write(Buffer.alloc(500));
  far.write(Buffer.alloc(500));
  await closed;
  assert.deepEqual(proxy.broken, { reset: 1, stall: 0, "half-close": 1 });
  // waits until every socket is closed
  await proxy.stop();
});
