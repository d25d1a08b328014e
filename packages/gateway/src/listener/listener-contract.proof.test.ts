// The contract of transports through the gateway's listener: HTTP/1.1, HTTP/2 without TLS, HTTP/2 with TLS, and WebSocket on both.

import assert from "node:assert/strict";
import { subscribe } from "node:diagnostics_channel";
import { after, test } from "node:test";
import { type Transport, webSocketTransport } from "@parley/acp";
import { transportContract } from "@parley/acp/testing";
import type { FrameLimits } from "@parley/acp/transport";
import { Agent, fetch as fetchHttp2 } from "undici";
import { WebSocket } from "ws";
import {
  anyHttpClient,
  type ContractHost,
  commonExceptions,
  goesOn,
  remotePair,
  tooLarge,
} from "../../../acp/test/support/remote-pair.ts";
import { certificate } from "../../test/support/certificate.ts";
import { ownHosts } from "../guard/addresses.ts";
import { Guard } from "../guard/guard.ts";
import { Listener } from "./listener.ts";

const token = "a-token-of-at-least-32-characters";
const headers = { Authorization: `Bearer ${token}` };
const tls = certificate();
const ca = tls.cert;

/** Requests that the server got, by the version of HTTP. */
const seen = { http1: 0, http2: 0 };
subscribe("http.server.request.start", () => {
  seen.http1++;
});
subscribe("http2.server.stream.start", () => {
  seen.http2++;
});

/** WebSockets of clients. */
const opened = new Set<WebSocket>();

async function hosted(
  server: ConstructorParameters<typeof Listener>[0]["server"],
  close: () => Promise<void>,
  isEncrypted: boolean,
): Promise<ContractHost> {
  const listener = new Listener({
    host: "127.0.0.1",
    port: 0,
    path: "/acp",
    tls: isEncrypted ? tls : undefined,
    behindProxy: false,
    server,
    limits: {
      maxSockets: 100,
      maxStrangers: 100,
      strangerMs: 10_000,
      maxBodyBytes: 32 * 1024 * 1024,
      bodyTimeoutMs: 30_000,
    },
    log: () => undefined,
    refused: () => undefined,
  });
  const port = await listener.open(
    (bound) =>
      new Guard({
        path: "/acp",
        token,
        isOwnHost: ownHosts("127.0.0.1", bound, []),
        origins: new Set(),
        now: () => performance.now(),
      }),
  );
  const where = `127.0.0.1:${port}/acp`;
  return {
    url: `${isEncrypted ? "https" : "http"}://${where}`,
    socketUrl: `${isEncrypted ? "wss" : "ws"}://${where}`,
    cut() {
      for (const socket of opened) socket.terminate();
    },
    async stop() {
      await close();
      await listener.close();
    },
  };
}

interface Way {
  readonly name: string;
  readonly isHttp: boolean;
  readonly isEncrypted: boolean;
  readonly canResume: boolean;
  /** Which ends are tested. Default: both. */
  readonly subjects?: readonly ("client" | "server")[];
  connect(host: ContractHost, limits: Partial<FrameLimits>): Transport;
}

// the types omit useH2c
const sockets = {
  "HTTP/1.1": new Agent({ allowH2: false, bodyTimeout: 0 }),
  "HTTP/2 without TLS": new Agent({ allowH2: true, bodyTimeout: 0, ...{ useH2c: true } }),
  "HTTP/2 with TLS": new Agent({ allowH2: true, bodyTimeout: 0, connect: { ca } }),
};
after(() => Promise.all(Object.values(sockets).map((each) => each.destroy())));

function overHttp(name: keyof typeof sockets): Way {
  const own = (url: string, init: object) => fetchHttp2(url, { ...init, dispatcher: sockets[name] });
  return {
    name,
    isHttp: true,
    isEncrypted: name === "HTTP/2 with TLS",
    canResume: true,
    connect: ({ url }, limits) =>
      anyHttpClient(url, {
        limits,
        headers,
        fetch: own as never,
        closeTimeoutMs: 10_000,
        backoffMs: 1,
      }),
  };
}

function overSocket(isEncrypted: boolean, canResume: boolean): Way {
  const options = { closeTimeoutMs: 200, backoffMs: 1 };
  return {
    name: `WebSocket with${isEncrypted ? "" : "out"} TLS${canResume ? ", resuming" : ""}`,
    isHttp: false,
    isEncrypted,
    canResume,
    connect({ socketUrl }, limits) {
      const open = (protocols: string[] = []) => {
        const socket = new WebSocket(socketUrl, protocols, { headers, ca });
        opened.add(socket);
        socket.once("close", () => opened.delete(socket));
        return socket;
      };
      return canResume
        ? webSocketTransport(open, { ...options, limits })
        : webSocketTransport(open(), { limits, closeTimeoutMs: 200 });
    },
  };
}

const ways: readonly Way[] = [
  overHttp("HTTP/1.1"),
  // the same code as with TLS
  { ...overHttp("HTTP/2 without TLS"), subjects: ["server"] },
  overHttp("HTTP/2 with TLS"),
  overSocket(false, false),
  overSocket(false, true),
  overSocket(true, true),
];

for (const way of ways) {
  for (const subject of way.subjects ?? (["server", "client"] as const)) {
    const { isHttp, isEncrypted, canResume } = way;
    transportContract(
      { test, assert },
      `gateway, ${way.name}, ${subject}`,
      (limits) =>
        remotePair(limits, {
          subject,
          isHttp,
          connect: (host) => way.connect(host, limits),
          host: (server) => hosted(server, () => server.close(), isEncrypted),
        }),
      {
        exceptions: {
          ...commonExceptions,
          ...(canResume && { cut: goesOn }),
          ...(isHttp && subject === "server" && { refused: tooLarge }),
        },
      },
    );
  }
  if (way.isHttp)
    test(`the requests above came over ${way.name}`, () => {
      const { http1, http2 } = seen;
      assert.deepEqual([http1 > 0, http2 > 0], way.name === "HTTP/1.1" ? [true, false] : [false, true]);
      Object.assign(seen, { http1: 0, http2: 0 });
    });
}
