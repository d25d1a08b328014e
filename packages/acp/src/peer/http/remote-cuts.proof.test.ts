// Random cuts between our client and our server: what both sides see is what they see without cuts.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { WebSocket as WsSocket } from "ws";
import { FaultProxy } from "../../../test/support/fault-proxy.ts";
import { Random } from "../../../test/support/random.ts";
import { hostRemote } from "../../../test/support/remote-host.ts";
import { inSoak } from "../../../test/support/soak.ts";
import { agent, client, httpTransport, type Transport, webSocketTransport } from "../../index.ts";
import { remoteServer } from "../../server.ts";

const cuts = inSoak(50, 500);
const cutsPerRun = 8;
// a stalled connection is left after this time
const times = { silenceMs: 100, backoffMs: 1 };

const transports: Record<string, (where: string) => Transport> = {
  HTTP: (where) => httpTransport(`http://${where}`, times),
  WebSocket: (where) =>
    webSocketTransport((protocols) => new WsSocket(`ws://${where}`, protocols), {
      ...times,
      heartbeatMs: 30,
    }),
};

/** Two sessions at a time, with long answers and questions. Returns what each side saw. */
async function conversation(
  connect: (where: string) => Transport,
  seed?: number,
): Promise<{ seen: object; broken: number }> {
  const agentSaw: string[] = [];
  const app = agent({
    name: "talker",
    version: "1.0.0",
    async prompt(turn) {
      const { cwd } = turn.session;
      agentSaw.push(`${cwd} ${turn.text}`);
      for (let n = 0; n < 40; n++) await turn.say(`${n} ${"x".repeat(n * 5)} `);
      const answer = await turn.requestPermission(`Go on with ${turn.text}?`);
      agentSaw.push(`${cwd} ${answer?.optionId}`);
      await turn.say("end");
    },
  });
  const server = remoteServer({
    connect: (transport) => app.connect(transport),
    heartbeatMs: 30,
    closeTimeoutMs: 50,
  });
  const host = await hostRemote(server);
  const proxy = await new FaultProxy(Number(new URL(host.url).port), new Random(seed ?? 0)).listen();
  const clientSaw: string[] = [];
  const near = await client({
    name: "test",
    version: "1",
    requestPermission({ options, ...request }) {
      clientSaw.push(JSON.stringify(request.title));
      return options[0]?.optionId;
    },
  }).connect(connect(`127.0.0.1:${proxy.port}/acp`));
  const stop = async () => {
    await near.close();
    await host.stop();
    await proxy.stop();
  };
  if (seed !== undefined) proxy.arm(cutsPerRun);
  const talk = async (cwd: string) => {
    const session = await near.newSession({ cwd });
    const heard: string[] = [];
    for (let n = 0; n < 3; n++) {
      const prompt = session.prompt(`prompt ${n}`);
      const text = await prompt.text();
      // a digest, because a difference is printed
      heard.push(
        `${text.length} ${createHash("sha1").update(text).digest("hex")}`,
        (await prompt).stopReason,
      );
    }
    return heard;
  };
  const heard = await Promise.all([talk("/a"), talk("/b")]).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const connections = server.connections.length;
  await stop();
  assert.equal(connections, 1, "the connection is the first one");
  const broken = Object.values(proxy.broken).reduce((sum, count) => sum + count, 0);
  return { seen: { heard, clientSaw: clientSaw.sort(), agentSaw: agentSaw.sort() }, broken };
}

for (const [kind, connect] of Object.entries(transports)) {
  test(`conversations over ${kind} with ${cuts} random cuts are the same as one without (H12, W4)`, {
    timeout: inSoak(120_000, 600_000),
  }, async (t) => {
    const { seen } = await conversation(connect);
    let all = 0;
    for (let seed = 1; all < cuts; seed++) {
      const run = await conversation(connect, seed);
      assert.deepEqual(run.seen, seen, `seed ${seed}`);
      assert.ok(run.broken > 0, `no connection was cut with seed ${seed}`);
      all += run.broken;
    }
    t.diagnostic(`${all} cuts`);
  });
}
