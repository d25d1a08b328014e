// Sends mutated messages to servers over HTTP and WebSocket, and to `parley agent` on its standard input. Whatever comes, each HTTP
// request is answered, no server crashes or stops, and one that ends a connection takes the next one.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { everyFeature } from "@parley/conformance";
import { scriptedAgent } from "@parley/conformance/testing";
import { type Gateway, startGateway } from "@parley/gateway";
import { WebSocket } from "ws";
import { launcher } from "../../../acp/test/support/programs.ts";
import { Random } from "../../../acp/test/support/random.ts";
import { inSoak } from "../../../acp/test/support/soak.ts";
import { mutate } from "../../../conformance/test/fuzz/mutations.ts";
import { noWaiting, type Recording, record } from "../../../conformance/test/fuzz/recordings.ts";

const only = process.env["PARLEY_FUZZ_SEED"];
const firstSeed = only === undefined ? inSoak(20_261_161, Date.now() % 1_000_000_000) : Number(only);
const countOf = (sample: number, full: number) => (only === undefined ? inSoak(sample, full) : 1);
const patienceMs = inSoak(20_000, 60_000);
const versions = [1, 2] as const;
const patient = { timeout: 3_600_000 };

function framesOf(recording: Recording, seed: number): readonly string[] {
  const [first = ""] = recording.said.client;
  // what comes before a valid initialize is fuzzed as well, but not always
  const random = new Random(seed);
  const frames = mutate(recording.said.client, random);
  return random.chance(0.8) ? [first, ...frames] : frames;
}

async function serve(t: TestContext, version: 1 | 2): Promise<Gateway> {
  const scenario = { ...everyFeature.agent, editions: [`v${version}`] as const, loginRequired: false };
  const gateway = await startGateway({
    connect: (transport) => scriptedAgent(scenario, { clock: noWaiting }).connect(transport),
  });
  t.after(() => gateway.close());
  return gateway;
}

/** The sessions that a server gave out, for the frames that name one. */
class Sessions {
  readonly #ids: string[] = [];

  note(text: string): void {
    for (const [, id = ""] of text.matchAll(/"sessionId":"([^"]+)"/g))
      if (!this.#ids.includes(id)) this.#ids.push(id);
  }

  in(frame: string): string {
    return frame.replaceAll(/\{session (\d+)\}/g, (all, number) => this.#ids[Number(number) - 1] ?? all);
  }
}

const there = '{"jsonrpc":"2.0","id":"are you there?","method":"_fuzz/none","params":{}}';
const isThere = (text: string): boolean => text.includes('"id":"are you there?"');

/** Fails with the seed when the work takes too long. */
async function within(seed: number, what: string, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const why = `${what} did not end; PARLEY_FUZZ_SEED=${seed} repeats it`;
  const timer = setTimeout(() => late.reject(new Error(why)), patienceMs);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

for (const version of versions) {
  test(
    `a WebSocket server of v${version}: it answers or ends the connection, and takes the next one`,
    patient,
    async (t) => {
      const gateway = await serve(t, version);
      const recording = await record(version);
      let sent = 0;
      const cases = countOf(15, 3_000);
      for (let at = 0; at < cases; at += 1) {
        const seed = firstSeed + at;
        const frames = framesOf(recording, seed);
        const random = new Random(seed);
        const socket = new WebSocket(gateway.url.replace("http", "ws"), {
          headers: { authorization: `Bearer ${gateway.token}` },
        });
        socket.on("error", () => undefined);
        const closed = once(socket, "close");
        const sessions = new Sessions();
        const answered = new Promise<void>((resolve) => {
          socket.on("message", (data) => {
            sessions.note(String(data));
            if (isThere(String(data))) resolve();
          });
        });
        await within(seed, "opening", once(socket, "open"));
        for (const frame of frames) {
          if (socket.readyState !== WebSocket.OPEN) break;
          const text = sessions.in(frame);
          socket.send(random.chance(0.05) ? Buffer.from(text) : text);
          sent += 1;
          if (random.chance(0.8)) await nextTurn();
        }
        if (socket.readyState === WebSocket.OPEN) socket.send(there);
        await within(seed, "a WebSocket", Promise.race([answered, closed]));
        socket.terminate();
        await within(seed, "closing", closed);
      }
      t.diagnostic(`fuzz: ${sent} messages to a WebSocket server of v${version} in ${cases} connections`);
    },
  );

  test(`an HTTP server of v${version} answers every request`, patient, async (t) => {
    const gateway = await serve(t, version);
    const recording = await record(version);
    let sent = 0;
    const statuses = new Map<number, number>();
    const cases = countOf(10, 1_500);
    for (let at = 0; at < cases; at += 1) {
      const seed = firstSeed + at;
      const random = new Random(seed);
      let connection: string | undefined;
      for (const frame of framesOf(recording, seed)) {
        const headers = {
          ...(connection === undefined || random.chance(0.05) ? {} : { "acp-connection-id": connection }),
          ...(random.chance(0.1) ? { "acp-session-id": random.pick(["", "s", "x".repeat(5_000)]) } : {}),
          "content-type": random.chance(0.95) ? "application/json" : "text/plain",
        };
        const post = send(gateway, frame, headers);
        await within(
          seed,
          `a POST with ${JSON.stringify(headers).slice(0, 300)} and ${frame.slice(0, 500)}`,
          post,
        );
        const { status, id } = await post;
        connection ??= id;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        assert.ok(
          status > 0 && status !== 500,
          `${status}; PARLEY_FUZZ_SEED=${seed} repeats it: ${frame.slice(0, 300)}`,
        );
        sent += 1;
      }
      if (connection !== undefined)
        await within(seed, "a DELETE", send(gateway, "", { "acp-connection-id": connection }, "DELETE"));
    }
    assert.equal((await send(gateway, recording.said.client[0] ?? "", json)).status, 200);
    const shown = [...statuses].map(([status, count]) => `${status} x ${count}`).join(", ");
    t.diagnostic(`fuzz: ${sent} messages to an HTTP server of v${version}: ${shown}`);
  });
}

const json = { "content-type": "application/json" };

/** One POST. Event streams are not read to their end. */
function send(
  gateway: Gateway,
  body: string,
  headers: Readonly<Record<string, string>>,
  method = "POST",
): Promise<{ readonly status: number; readonly id: string | undefined }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; id: string | undefined }>();
  const sent = request(
    gateway.url,
    {
      method,
      headers: {
        authorization: `Bearer ${gateway.token}`,
        accept: "application/json, text/event-stream",
        ...headers,
      },
    },
    (response) => {
      const id = response.headers["acp-connection-id"];
      response.on("error", () => undefined);
      const done = () =>
        resolve({ status: response.statusCode ?? 0, id: typeof id === "string" ? id : undefined });
      if (response.headers["content-type"]?.startsWith("text/event-stream") === true) {
        done();
        response.destroy();
      } else response.resume().on("end", done);
    },
  );
  sent.on("error", reject);
  sent.end(body);
  return promise;
}

test("parley agent on its standard input answers to the end, and exits cleanly", patient, async (t) => {
  const home = mkdtempSync(join(tmpdir(), "parley-fuzz-"));
  t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  let sent = 0;
  const cases = countOf(2, 60);
  for (let at = 0; at < cases; at += 1) {
    const seed = firstSeed + at;
    const recording = await record(versions[at % 2] ?? 1);
    const child = spawn(launcher, ["agent", "--no-history"], {
      cwd: home,
      env: { PATH: process.env["PATH"], HOME: home, PARLEY_HOME: join(home, "parley") },
      stdio: ["pipe", "pipe", "ignore"],
    });
    const exited = once(child, "exit");
    child.stdin.on("error", () => undefined);
    const sessions = new Sessions();
    const answered = new Promise<void>((resolve) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        assert.doesNotThrow(() => JSON.parse(line), line.slice(0, 300));
        sessions.note(line);
        if (isThere(line)) resolve();
      });
    });
    for (const frame of framesOf(recording, seed)) {
      child.stdin.write(`${sessions.in(frame).replaceAll("\n", " ")}\n`);
      sent += 1;
      await nextTurn();
    }
    child.stdin.write(`${there}\n`);
    await within(seed, "parley agent", Promise.race([answered, exited]));
    assert.equal(
      child.exitCode,
      null,
      `it exited with ${child.exitCode}; PARLEY_FUZZ_SEED=${seed} repeats it`,
    );
    child.stdin.end();
    await within(seed, "the end of parley agent", exited);
    assert.deepEqual(await exited, [0, null], `PARLEY_FUZZ_SEED=${seed} repeats it`);
  }
  t.diagnostic(`fuzz: ${sent} messages to parley agent in ${cases} processes`);
});
