import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocket as WsSocket } from "ws";

// The contract on both ends of remote connections, over real sockets on the loopback interface.

import { hostRemote } from "../../../test/support/remote-host.ts";
import {
  anyHttpClient,
  type ContractHost,
  commonExceptions as common,
  goesOn,
  type RemotePairOptions,
  remotePair,
  tooLarge,
} from "../../../test/support/remote-pair.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { transportContract } from "../../testing/contracts/transport-contract.ts";
import type { FrameLimits } from "../byte-channel.ts";
import { webSocketTransport } from "../websocket.ts";

const pairOf = (
  limits: Partial<FrameLimits>,
  connect: (host: ContractHost) => Transport,
  subject: RemotePairOptions["subject"],
  isHttp = false,
) => remotePair(limits, { subject, isHttp, connect, host: (server) => hostRemote(server as never) });

const http = (limits: Partial<FrameLimits>) => (host: { url: string }) =>
  anyHttpClient(host.url, { limits, closeTimeoutMs: 10_000, backoffMs: 1 });
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
    exceptions: { ...common, cut: goesOn, refused: tooLarge },
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
