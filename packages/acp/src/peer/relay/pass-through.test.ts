// Two peers of one version: what passes, passes as it was written.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type ByteEnd, bytePipe } from "../../../test/support/byte-pipe.ts";
import { byteTransport } from "../../transport/byte-transport.ts";
import { relay } from "./relay.ts";

/** A peer that is only bytes. */
function rawPeer(channel: ByteEnd) {
  const decoder = new TextDecoder();
  let text = "";
  let wake = (): void => undefined;
  let over = false;
  const inputOver = Promise.withResolvers<void>();
  channel.open({
    bytes(chunk) {
      text += decoder.decode(chunk, { stream: true });
      wake();
    },
    drained: () => undefined,
    ended() {
      over = true;
      inputOver.resolve();
      wake();
    },
  });
  return {
    write: (line: string) => channel.write(line),
    close: () => channel.close(),
    endOutput: () => channel.endOutput(),
    inputOver: inputOver.promise,
    /** Everything up to and with the mark. */
    async until(mark: string): Promise<string> {
      while (!text.includes(mark)) {
        assert.ok(!over, `ended before ${mark}: ${text}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const end = text.indexOf(mark) + mark.length;
      const found = text.slice(0, end);
      text = text.slice(end);
      return found;
    },
  };
}

function between(framing: "ndjson" | "auto" = "ndjson") {
  const [clientFar, clientNear] = bytePipe();
  const [agentNear, agentFar] = bytePipe();
  const running = relay(
    byteTransport(clientNear, { framing }),
    byteTransport(agentNear, { framing: "ndjson" }),
  );
  return { running, client: rawPeer(clientFar), agent: rawPeer(agentFar) };
}

const hello =
  '{"jsonrpc":"2.0","id":"one","method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"x":1}}}';
const answer =
  '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"y":[1,2]}}';

async function shakeHands({
  client,
  agent,
}: ReturnType<typeof between>): Promise<{ asked: string; answered: string }> {
  client.write(`${hello}\n`);
  const asked = await agent.until("\n");
  const { id } = JSON.parse(asked) as { id: number };
  agent.write(`${answer.replace('"id":0', `"id":${id}`)}\n`);
  return { asked, answered: await client.until("\n") };
}

test("the agent gets the client's own capabilities, the client the agent's own answer", async () => {
  const peers = between();
  const { asked, answered } = await shakeHands(peers);
  const { params } = JSON.parse(asked) as { params: Record<string, unknown> };
  assert.deepEqual(params.clientCapabilities, { fs: { readTextFile: true }, x: 1 });
  assert.deepEqual(JSON.parse(answered), {
    jsonrpc: "2.0",
    id: "one",
    result: { protocolVersion: 1, agentCapabilities: { loadSession: true }, y: [1, 2] },
  });
  await peers.running.close();
});

test("params and results pass as they were written; each side has its own ids", async () => {
  const peers = between();
  await shakeHands(peers);
  const params = '{ "cwd":"/\\u0041", "n": 12345678901234567890, "x": 1.0 }';
  peers.client.write(`{ "method":"session/new" , "id": "a\\u0041","jsonrpc":"2.0","params":${params}}\r\n\n`);
  const asked = await peers.agent.until("\n");
  assert.ok(asked.includes(`"params":${params}`), asked);
  const { id } = JSON.parse(asked) as { id: number };
  peers.agent.write(`{"result": {"y":1e2} , "id":${id},"jsonrpc":"2.0", "_more":[]}\n`);
  const answered = await peers.client.until("\n");
  assert.ok(
    answered.startsWith('{"result": {"y":1e2} , "id":"aA"') && answered.includes('"_more":[]'),
    answered,
  );
  await peers.running.close();
});

test("what is no message stops at the relay: the client is told, the agent may print what it likes", async () => {
  const peers = between();
  await shakeHands(peers);
  peers.client.write('{"x":[]}\nEND\n{"jsonrpc":"2.0","method":"_a","params":null}\n');
  assert.equal(await peers.agent.until("\n"), '{"jsonrpc":"2.0","method":"_a","params":null}\n');
  assert.match(await peers.client.until("\n"), /"code":-32600/);
  assert.match(await peers.client.until("\n"), /"code":-32700/);
  peers.agent.write('loading model…\n[1,2]\n{"jsonrpc":"2.0","method":"_b","params":[1, 2]}\n');
  assert.equal(await peers.client.until("\n"), '{"jsonrpc":"2.0","method":"_b","params":[1, 2]}\n');
  await peers.running.close();
});

test("an update with an id is a request, wherever the id stands", async () => {
  const peers = between();
  await shakeHands(peers);
  for (const id of ['"id"', '"\\u0069d"']) {
    peers.agent.write(`{"jsonrpc":"2.0","method":"session/update","params":{},${id}:77,"x":{}}\n`);
    const got = JSON.parse(await peers.client.until("\n")) as { id: number };
    assert.notEqual(got.id, 77);
    peers.client.write(`{"jsonrpc":"2.0","id":${got.id},"result":null}\n`);
    assert.match(await peers.agent.until("\n"), /"id":77,"result":null/);
  }
  await peers.running.close();
});

test("what came together with the handshake is passed too, in order", async () => {
  const peers = between();
  peers.client.write(
    `${hello}\n{"jsonrpc":"2.0","id":2,"method":"session/new","params":{}}\n{"jsonrpc":"2.0","me`,
  );
  const asked = JSON.parse(await peers.agent.until("\n")) as { id: number };
  const update = '{"jsonrpc":"2.0","method":"session/update","params":{"early":true}}';
  peers.agent.write(`${update}\n${answer.replace('"id":0', `"id":${asked.id}`)}\n${update}\n`);
  peers.client.write('thod":"_done"}\n');
  assert.match(await peers.agent.until('_done"}\n'), /"id":\d,"method":"session\/new".*\n.*_done/);
  const seen = await peers.client.until(`${update}\n`);
  assert.match(seen + (await peers.client.until(`${update}\n`)), /"id":"one".*early.*early/s);
  await peers.running.close();
});

test("a client that frames by Content-Length is passed message by message", async () => {
  const peers = between("auto");
  const framed = (text: string) => `Content-Length: ${new TextEncoder().encode(text).length}\r\n\r\n${text}`;
  peers.client.write(framed(hello));
  const asked = JSON.parse(await peers.agent.until("\n")) as { id: number };
  peers.agent.write(`${answer.replace('"id":0', `"id":${asked.id}`)}\n`);
  assert.match(await peers.client.until("[1,2]}}"), /^Content-Length: \d+\r\n\r\n\{/);
  peers.client.write(framed('{"jsonrpc":"2.0","id":7,"method":"session/new","params":{}}'));
  assert.equal(
    await peers.agent.until("\n"),
    '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}\n',
  );
  await peers.running.close();
});

test("a request before initialize is refused, and initialize still works", async () => {
  const peers = between();
  peers.client.write('{"jsonrpc":"2.0","id":5,"method":"session/new","params":{}}\nnot json\n');
  const refused = JSON.parse(await peers.client.until("\n")) as { id: number; error: { code: number } };
  assert.deepEqual([refused.id, refused.error.code], [5, -32600]);
  const broken = JSON.parse(await peers.client.until("\n")) as { id: null; error: { code: number } };
  assert.deepEqual([broken.id, broken.error.code], [null, -32700]);
  await shakeHands(peers);
  await peers.running.close();
});

test("an agent that dies in the handshake is named as the reason", async () => {
  const peers = between();
  peers.client.write(`${hello}\n`);
  await peers.agent.until("\n");
  await peers.agent.close();
  const refused = JSON.parse(await peers.client.until("\n")) as {
    id: string;
    error: { code: number; data: unknown };
  };
  assert.deepEqual(
    [refused.id, refused.error.code, refused.error.data],
    ["one", -32067, { reason: "agent_gone" }],
  );
  await peers.running.closed;
});

test("answers that the agent still owes arrive after the client's last word (T7)", async () => {
  const peers = between();
  await shakeHands(peers);
  peers.client.write('{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}\n');
  peers.client.endOutput();
  await peers.agent.until("session/list");
  await peers.agent.inputOver;
  peers.agent.write('{"jsonrpc":"2.0","id":1,"result":{"sessions":[]}}\n');
  assert.match(await peers.client.until("\n"), /"sessions":\[\]/);
  await peers.agent.close();
  await peers.running.closed;
});

test("the client's end is the agent's end, and the other way round", async () => {
  for (const first of ["client", "agent"] as const) {
    const peers = between();
    await shakeHands(peers);
    await peers[first].close();
    await peers.running.closed;
  }
});
