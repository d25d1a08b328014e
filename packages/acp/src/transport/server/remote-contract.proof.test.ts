import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocket as WsSocket } from "ws";

// The contract on both ends of remote connections, over real sockets on the loopback interface.

import { hostRemote } from "../../../test/support/remote-host.ts";
import type { EndReason, Sink, Transport } from "../../jsonrpc/transport.ts";
import { transportContract } from "../../testing/contracts/transport-contract.ts";
import type { TransportPair } from "../../testing/contracts/transport-pair.ts";
import type { FrameLimits } from "../byte-channel.ts";
import { HttpClientTransport, type HttpRouting } from "../http/http-client.ts";
import { webSocketTransport } from "../websocket.ts";
import { RemoteConnections, type RemoteProtocol } from "./remote-connections.ts";

/** Messages of any kind; the first one opens the connection, and all go over its one stream. */
const anything: RemoteProtocol = {
  opens: (message) => (message as { id?: unknown }).id === "open",
  routing: () => ({ received: () => undefined, streamOf: () => undefined, isOwn: () => false }),
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

type Subject = "client" | "server";

async function pairOf(
  limits: Partial<FrameLimits>,
  connect: (host: { url: string; socketUrl: string }) => Transport,
  subject: Subject,
  isHttp = false,
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
  const host = await hostRemote(server as never);
  const client = begun(connect(host), () => undefined);
  client.transport.send(opening);
  const inner = await served.promise;
  const far = begun(inner, () => void inner.send({ jsonrpc: "2.0", id: "open", result: {} }));
  await Promise.all([client.ready, far.ready, attached.promise]);
  const [near, other] = subject === "server" ? [far, client] : [client, far];
  return { near: near.transport, far: other.transport, cut: () => host.cut(), dispose: () => host.stop() };
}

const noBytes = "a whole message is carried";
const noMalformed = "what is no message is refused to its sender (remote-server.test.ts)";
const noHalfClose = "a remote connection has no half-close";
const unopened = "a connection begins with its first message";
const goesOn = "a cut is no end: the connection goes on (remote-cuts.proof.test.ts)";
const common = { bytes: noBytes, malformed: noMalformed, "half-close": noHalfClose, unopened };

const http = (limits: Partial<FrameLimits>) => (host: { url: string }) =>
  new HttpClientTransport(new URL(host.url), clientRouting, { limits, closeTimeoutMs: 10_000, backoffMs: 1 });
const socket = (limits: Partial<FrameLimits>) => (host: { socketUrl: string }) =>
  webSocketTransport(new WsSocket(host.socketUrl), { limits, closeTimeoutMs: 200 });
const resuming = (limits: Partial<FrameLimits>) => (host: { socketUrl: string }) =>
  webSocketTransport((protocols) => new WsSocket(host.socketUrl, protocols), {
    limits,
    closeTimeoutMs: 200,
    backoffMs: 1,
  });

transportContract(
  { test, assert },
  "remote server, HTTP",
  (limits) => pairOf(limits, http(limits), "server", true),
  {
    exceptions: { ...common, cut: goesOn, refused: "a body over a limit gets 413 or 400" },
  },
);
transportContract(
  { test, assert },
  "HTTP client that resumes",
  (limits) => pairOf(limits, http(limits), "client", true),
  {
    exceptions: { ...common, cut: goesOn },
  },
);
transportContract(
  { test, assert },
  "remote server, WebSocket",
  (limits) => pairOf(limits, socket(limits), "server"),
  {
    exceptions: common,
  },
);
for (const subject of ["server", "client"] as const)
  transportContract(
    { test, assert },
    `WebSocket that resumes, ${subject}`,
    (limits) => pairOf(limits, resuming(limits), subject),
    { exceptions: { ...common, cut: goesOn } },
  );
