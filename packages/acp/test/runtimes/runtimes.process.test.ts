// remoteServer() in Bun and Deno. They are not dependencies: PARLEY_TEST_BUN and PARLEY_TEST_DENO name the programs, or they
// are on PATH.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { client, httpTransport, type Transport, webSocketTransport } from "@parley/acp";
import { startServer } from "../interop/server-process.ts";

const program = (name: string) => join(import.meta.dirname, name);
const runtimes = [
  { name: "Bun", command: process.env["PARLEY_TEST_BUN"] ?? "bun", args: [program("bun-server.ts")] },
  {
    name: "Deno",
    command: process.env["PARLEY_TEST_DENO"] ?? "deno",
    args: ["run", "--no-config", "--no-lock", "--allow-net=127.0.0.1", program("deno-server.ts")],
  },
];

interface Cut {
  readonly transport: Transport;
  cut(): void;
  /** How many sockets or event streams were opened. */
  opened(): number;
}

/** Each with a way to break what is open. */
const ways: Readonly<Record<string, (url: string) => Cut>> = {
  HTTP: (url) => {
    let streams = new AbortController();
    let gets = 0;
    const cuttable: typeof fetch = (input, init = {}) => {
      if (init.method === "GET") gets++;
      const signals = [init.signal, init.method === "GET" ? streams.signal : undefined];
      const signal = AbortSignal.any(signals.filter((each) => each != null));
      return fetch(input, { ...init, signal });
    };
    return {
      transport: httpTransport(url, { fetch: cuttable, backoffMs: 1 }),
      opened: () => gets,
      cut() {
        const old = streams;
        streams = new AbortController();
        old.abort();
      },
    };
  },
  WebSocket: (url) => {
    const sockets: WebSocket[] = [];
    const open = (protocols: string[]) => {
      const socket = new WebSocket(url.replace("http", "ws"), protocols);
      sockets.push(socket);
      return socket;
    };
    // a standard socket cannot be reset; 4001 is how a browser says that it goes away
    const cut = () => sockets.at(-1)?.close(4001);
    return { transport: webSocketTransport(open, { backoffMs: 1 }), cut, opened: () => sockets.length };
  },
};

for (const { name, command, args } of runtimes) {
  const found = spawnSync(command, ["--version"], { encoding: "utf8" });
  const skip = found.error === undefined ? false : `${name} is not installed`;
  for (const [way, reach] of Object.entries(ways)) {
    test(`remoteServer() in ${name} serves an agent over ${way}, and a client that was cut off goes on`, {
      skip,
      timeout: 60_000,
    }, async (t) => {
      const server = await startServer([command, args]);
      t.after(() => server.end());
      const { transport, cut, opened } = reach(server.url);
      const app = client({
        name: "test",
        version: "1.0.0",
        requestPermission({ options }) {
          cut();
          return options[0]?.optionId;
        },
      });
      const connection = await app.connect(transport);
      const session = await connection.newSession({ cwd: "/" });
      const words = [...Array(100).keys()].map((n) => `w${n}`).join(" ");
      assert.equal(await session.prompt(`one ask ${words}`).text(), `one ask ${words} `);
      // over HTTP the connection and the session have a stream each
      assert.ok(opened() > (way === "HTTP" ? 2 : 1), "a new one was opened after the cut");
      await connection.close();
    });
  }
}
