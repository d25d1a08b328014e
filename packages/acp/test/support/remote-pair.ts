// Pairs of transports for the contract suite: the two ends of a remote connection, over a real server.

import type { EndReason, Sink, Transport } from "../../src/jsonrpc/transport.ts";
import type { TransportPair } from "../../src/testing/contracts/transport-pair.ts";
import type { FrameLimits } from "../../src/transport/byte-channel.ts";
import { HttpClientTransport, type HttpRouting } from "../../src/transport/http/http-client.ts";
import type { HttpClientOptions } from "../../src/transport/http/http-options.ts";
import { RemoteConnections, type RemoteProtocol } from "../../src/transport/server/remote-connections.ts";

/** Messages of any kind; the first one opens the connection, and all go over its one stream. */
const anything: RemoteProtocol = {
  opens: (message) => (message as { id?: unknown }).id === "open",
  routing: () => ({
    received: () => undefined,
    streamOf: () => undefined,
    isOwn: () => false,
    hasEnded: () => false,
  }),
};
const clientRouting: HttpRouting = {
  sending: () => undefined,
  takesUp: () => false,
  isTakingUp: () => false,
  received: (value, text, _session, link) => link.deliver(value, text),
  refused: () => true,
};
const opening = { jsonrpc: "2.0", id: "open", method: "open" };

/** Starts a transport and takes the first message for the test, which then starts the rest itself. */
function begun(inner: Transport, first: () => void): { transport: Transport; ready: Promise<void> } {
  const ready = Promise.withResolvers<void>();
  let hasBegun = false;
  let sink: Sink | undefined;
  let held: ((sink: Sink) => void)[] = [];
  const pass = (act: (to: Sink) => void) => {
    if (sink === undefined) held.push(act);
    else act(sink);
  };
  inner.start({
    message(value, text) {
      if (hasBegun) return pass((to) => to.message(value, text));
      hasBegun = true;
      inner.pause();
      first();
      ready.resolve();
    },
    idle: () => pass((to) => to.idle()),
    reject: (fault) => pass((to) => to.reject(fault)),
    drain: () => pass((to) => to.drain()),
    end: (reason: EndReason) => pass((to) => to.end(reason)),
  });
  const transport: Transport = {
    start(given) {
      queueMicrotask(() => {
        sink = given;
        for (const act of held) act(given);
        held = [];
        if (!isPaused) inner.resume();
      });
    },
    send: (message, text) => inner.send(message, text),
    pause() {
      isPaused = true;
      inner.pause();
    },
    resume() {
      isPaused = false;
      inner.resume();
    },
    close: (reason) => inner.close(reason),
  };
  let isPaused = false;
  return { transport, ready: ready.promise };
}

/** The client of Streamable HTTP for such messages. */
export function anyHttpClient(url: string, options: HttpClientOptions): Transport {
  return new HttpClientTransport(new URL(url), clientRouting, options);
}

/** Where a server can be reached. */
export interface ContractHost {
  readonly url: string;
  readonly socketUrl: string;
  /** Breaks the connections of the client. */
  cut(): void;
  stop(): Promise<void>;
}

export interface RemotePairOptions {
  /** Which end is tested. */
  readonly subject: "client" | "server";
  readonly isHttp: boolean;
  connect(host: ContractHost): Transport;
  /** Serves it on a port. */
  host(server: RemoteConnections): Promise<ContractHost>;
}

/** Both ends of one connection, open. */
export async function remotePair(
  limits: Partial<FrameLimits>,
  { subject, isHttp, connect, host: hosted }: RemotePairOptions,
): Promise<TransportPair> {
  const attached = Promise.withResolvers<void>();
  if (!isHttp) attached.resolve();
  const served = Promise.withResolvers<Transport>();
  const server = new RemoteConnections(
    {
      limits,
      ...(!isHttp && { graceMs: 20 }),
      closeTimeoutMs: 500,
      connect(transport) {
        served.resolve(transport);
        transport.attachment?.onChange(() => {
          if (transport.attachment?.isAttached) attached.resolve();
        });
        return { close: () => transport.close() };
      },
    },
    anything,
  );
  const host = await hosted(server);
  const client = begun(connect(host), () => undefined);
  client.transport.send(opening);
  const inner = await served.promise;
  const far = begun(inner, () => void inner.send({ jsonrpc: "2.0", id: "open", result: {} }));
  await Promise.all([client.ready, far.ready, attached.promise]);
  const [near, other] = subject === "server" ? [far, client] : [client, far];
  return { near: near.transport, far: other.transport, cut: () => host.cut(), dispose: () => host.stop() };
}

/** What the two ends of a remote connection cannot do, and why. */
export const commonExceptions = {
  bytes: "a whole message is carried",
  malformed: "what is no message is refused to its sender (remote-server.test.ts)",
  "half-close": "a remote connection has no half-close",
  unopened: "a connection begins with its first message",
};
export const goesOn = "a cut is no end: the connection goes on (remote-cuts.proof.test.ts)";
export const tooLarge = "a body over a limit gets 413 or 400";
