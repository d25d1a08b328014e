// What happens when a part of a chain goes away, or stops reading.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent } from "../../src/index.ts";
import type { Sink, Transport } from "../../src/jsonrpc/transport.ts";
import { type AcpProxy, conductor, type OnExit, proxy, refuse } from "../../src/proxy.ts";
import { webPlatform } from "../../src/transport/byte-channel.ts";
import { byteTransport } from "../../src/transport/byte-transport.ts";
import { lateTransport } from "../../src/transport/late-transport.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import { wrapTransport } from "../../src/transport/wrap-transport.ts";
import { bytePipe } from "../support/byte-pipe.ts";
import { Random } from "../support/random.ts";
import { type RawLinePeer, rawLinePeer, type Wire } from "../support/raw-line-peer.ts";
import {
  brief,
  byHand,
  chained,
  empty,
  handshake,
  hello,
  introductions,
  newSession,
  opened,
  prompt,
  said,
  served,
} from "./chained.ts";
import { rust5, rustProxy } from "./scripted-rust.ts";

/** A proxy by hand whose program can be ended. */
function mortal(onExit: OnExit, name = "mortal") {
  const scripts = new Map<RawLinePeer, (message: Wire, peer: RawLinePeer) => void>();
  const hand = byHand((message, peer) => {
    const script = scripts.get(peer) ?? rustProxy(rust5);
    scripts.set(peer, script);
    script(message, peer);
  });
  return { part: { name, start: hand.start, onExit }, ...hand };
}

/** A prompt that works. */
async function works(
  { client, agent }: { client: RawLinePeer; agent: RawLinePeer },
  id: string,
): Promise<void> {
  client.request(id, "session/prompt", prompt("s", id));
  agent.notify("session/update", said("s", id));
  agent.answer(await agent.asked("session/prompt"), { stopReason: "end_turn" });
  assert.deepEqual((await client.answered(id)).result, { stopReason: "end_turn" });
}

test("a proxy that goes away while nothing happens is started again with the next prompt (P26)", async () => {
  const { part, peers, peer } = mortal("restart");
  const made = await opened([...empty(1), part, ...empty(1)]);
  await peers[0]?.close();
  await works(made, "next");
  assert.equal(peers.length, 2);
  // the agent is not introduced twice
  assert.equal(made.agent.got.filter(({ method }) => method === "initialize").length, 1);
  await (await peer(1)).close();
  await works(made, "once more");
  await made.chain.close();
});

for (const onExit of ["restart", "bypass", "fail"] as const) {
  test(`a proxy that goes away in a prompt: one error with its name, the turn is cancelled, then ${onExit} (P26)`, async () => {
    const { part, peers } = mortal(onExit);
    const made = await opened([...empty(1), part]);
    const { client, agent, chain, connection } = made;
    client.request(1, "session/prompt", prompt("s", "go"));
    const asked = await agent.asked("session/prompt");
    agent.request("q", "session/request_permission", { sessionId: "s", toolCall: {}, options: [] });
    const question = await client.asked("session/request_permission");
    await peers[0]?.close();
    const { error } = await client.answered(1);
    assert.equal(error?.code, -32067);
    assert.match(error?.message ?? "", /^mortal has gone/);
    assert.equal((error?.data as { component?: string } | undefined)?.component, "mortal");
    // the question of the agent is over, at both ends
    assert.equal((await client.asked("$/cancel_request")).params?.["requestId"], question.id);
    assert.match(
      (await agent.answered("q")).error?.message ?? "",
      onExit === "fail" ? /./ : /^mortal has gone/,
    );
    if (onExit === "fail") {
      assert.match((await connection.closed).message, /^mortal has gone/);
      await client.ended;
      await agent.ended;
    } else {
      assert.equal((await agent.asked("session/cancel")).params?.["sessionId"], "s");
      assert.equal((await agent.asked("$/cancel_request")).params?.["requestId"], asked.id);
      await works(made, "next");
      assert.equal(peers.length, onExit === "restart" ? 2 : 1);
    }
    await chain.close();
    assert.equal(client.got.filter(({ id, method }) => id === 1 && method === undefined).length, 1);
  });
}

test("a proxy that goes away before it has answered: restart introduces another one, the agent once (P26)", async () => {
  for (const hasAsked of [false, true]) {
    const dying = byHand();
    let starts = 0;
    const later = mortal("restart");
    const start = () => (starts++ === 0 ? dying.start() : later.start());
    const { client, agent: starting, chain } = chained([{ name: "p", start, onExit: "restart" }]);
    client.request(1, "initialize", hello[1]);
    client.request(2, "session/new", { cwd: "/", mcpServers: [] });
    const first = await dying.peer(0);
    const given = await first.asked("proxy/initialize");
    if (hasAsked) {
      first.request(0, "proxy/successor", { method: "initialize", params: given.params });
      await starting;
    }
    await first.close();
    const agent = await starting;
    const asked = await agent.asked("initialize");
    await later.peer(0);
    agent.answer(asked, introductions[1]);
    assert.deepEqual((await client.answered(1)).result, introductions[1]);
    agent.answer(await agent.asked("session/new"), { sessionId: "s" });
    await client.answered(2);
    assert.equal(agent.got.filter(({ method }) => method === "initialize").length, 1);
    assert.equal(
      agent.got.some(({ method }) => method === "$/cancel_request"),
      false,
    );
    await chain.close();
  }
});

test("a proxy that goes away before it has answered is bypassed, or ends the chain with its name (P26)", async () => {
  for (const onExit of ["bypass", "fail"] as const) {
    const dying = byHand((_, peer) => void peer.close());
    const { client, agent: starting, chain } = chained([{ name: "p", start: dying.start, onExit }]);
    client.request(1, "initialize", hello[1]);
    if (onExit === "bypass") {
      const agent = await starting;
      agent.answer(await agent.asked("initialize"), introductions[1]);
      assert.deepEqual((await client.answered(1)).result, introductions[1]);
      await newSession(client, agent, "s");
      await works({ client, agent }, "next");
    } else {
      assert.match((await client.answered(1)).error?.message ?? "", /^p has gone/);
      await client.ended;
    }
    await chain.close();
  }
});

test("a proxy that ends twice at its first message is broken: it is named, and not started again", async () => {
  const dying = byHand((_, peer) => void peer.close());
  const { client, connection } = chained([{ name: "p", start: dying.start, onExit: "restart" }]);
  client.request(1, "initialize", hello[1]);
  assert.match((await client.answered(1)).error?.message ?? "", /^p has gone/);
  assert.match((await connection.closed).message, /^p has gone: /);
  assert.equal(dying.peers.length, 2);
});

test("a proxy that goes away again and again is given up, with the reason", async () => {
  const { part, peer } = mortal("restart");
  const made = await opened([part]);
  for (let i = 0; i < 5; i++) {
    await (await peer(i)).close();
    await works(made, `${i}`);
  }
  await (await peer(5)).close();
  assert.match((await made.connection.closed).message, /^mortal has gone, 5 times in a minute: /);
  await made.client.ended;
});

test("random traffic while a proxy goes away at random times: one answer for every request (P26)", async () => {
  for (let seed = 0; seed < 20; seed++) {
    const random = new Random(seed);
    const { part, peers } = mortal("restart");
    const { client, agent, chain } = await opened([...empty(1), part, ...empty(1)]);
    const sides = { client, agent };
    const asked = { client: [] as string[], agent: [] as string[] };
    const read = { client: client.got.length, agent: agent.got.length };
    const answers = (side: "client" | "agent", id: string) =>
      sides[side].got.filter((each) => each.id === id && each.method === undefined).length;
    const answerSome = (probability: number): void => {
      for (const side of ["client", "agent"] as const) {
        const { got } = sides[side];
        for (; read[side] < got.length && random.chance(probability); read[side]++) {
          const message = got[read[side]] as Wire;
          if (message.method?.startsWith("_acme/") && message.id !== undefined)
            sides[side].answer(message, {});
        }
      }
    };
    for (let n = 0, ends = 0; n < 150; n++) {
      const side = random.pick(["client", "agent"] as const);
      const id = `${side} ${n}`;
      asked[side].push(id);
      sides[side].request(id, "_acme/ask", { sessionId: "s", n });
      if (random.chance(0.1)) sides[side].notify("$/cancel_request", { requestId: id });
      if (ends < 4 && random.chance(0.03)) {
        ends += 1;
        void peers.at(-1)?.close();
      }
      if (random.chance(0.4)) await new Promise(setImmediate);
      answerSome(0.7);
    }
    const open = () =>
      (["client", "agent"] as const).flatMap((side) => asked[side].filter((id) => answers(side, id) === 0));
    for (let turns = 0; open().length > 0; turns++) {
      assert.ok(turns < 2_000, `seed ${seed}: no answer to ${open().join(", ")}`);
      answerSome(1);
      await new Promise(setImmediate);
    }
    for (const side of ["client", "agent"] as const)
      for (const id of asked[side]) assert.equal(answers(side, id), 1, `seed ${seed}: ${id}`);
    await chain.close();
  }
});

test("a component that cannot be started is named at once", async () => {
  const start = (): Transport => {
    throw new Error("no such program");
  };
  for (const onExit of ["restart", "fail"] as const) {
    const { client, chain } = chained([{ name: "p", start, onExit }]);
    client.request(1, "initialize", hello[1]);
    assert.match((await client.answered(1)).error?.message ?? "", /^p has gone: no such program/);
    await chain.close();
    const alone = served([{ name: "a", start, onExit }]);
    alone.client.request(1, "initialize", hello[1]);
    assert.match((await alone.client.answered(1)).error?.message ?? "", /^a has gone: no such program/);
    await alone.chain.close();
  }
});

for (const [how, capabilities] of [
  ["session/resume", { sessionCapabilities: { resume: {} } }],
  ["session/load", { loadSession: true }],
  [undefined, {}],
] as const) {
  test(`an agent that goes away is started again with the next prompt: ${how ?? "a lost session is named"} (P26)`, async () => {
    const { client, agent: starting, agents, chain } = chained(empty(1), { onExit: "restart" });
    client.request(0, "initialize", hello[1]);
    const first = await starting;
    first.answer(await first.asked("initialize"), { protocolVersion: 1, agentCapabilities: capabilities });
    await client.answered(0);
    client.request(1, "session/new", { cwd: "/work", mcpServers: [] });
    first.answer(await first.asked("session/new"), { sessionId: "s" });
    await client.answered(1);
    client.request(2, "session/prompt", prompt("s", "go"));
    await first.asked("session/prompt");
    await first.close();
    const { error } = await client.answered(2);
    assert.match(error?.message ?? "", /^the agent has gone/);
    assert.equal((error?.data as { component?: string } | undefined)?.component, "the agent");
    client.request(3, "session/prompt", prompt("s", "again"));
    if (how === undefined) {
      assert.match(
        (await client.answered(3)).error?.message ?? "",
        /cannot continue the session s: open a new one/,
      );
      client.request(4, "session/list");
    }
    while (agents.length < 2) await new Promise(setImmediate);
    const second = agents[1] as RawLinePeer;
    const asked = await second.asked("initialize");
    assert.deepEqual(asked.params, hello[1]);
    second.answer(asked, { protocolVersion: 1, agentCapabilities: capabilities });
    if (how === undefined) {
      second.answer(await second.asked("session/list"), { sessions: [] });
      await client.answered(4);
      await newSession(client, second, "t");
    } else {
      const reopened = await second.asked(how);
      assert.deepEqual(reopened.params, { cwd: "/work", mcpServers: [], sessionId: "s" });
      // a history that the client has already
      if (how === "session/load") second.notify("session/update", said("s", "old"));
      second.answer(reopened, {});
      second.answer(await second.asked("session/prompt"), { stopReason: "end_turn" });
      assert.deepEqual((await client.answered(3)).result, { stopReason: "end_turn" });
      assert.equal(
        client.got.some(({ method }) => method === "session/update"),
        false,
      );
    }
    await chain.close();
  });
}

for (const version of [1, 2] as const) {
  test(`a cancel while a restarted agent reopens the session ends the prompts that wait, and the agent never gets them (v${version}; P26)`, async () => {
    const { client, agent: starting, agents, chain } = chained(empty(1), { onExit: "restart" });
    const introduction = {
      1: { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { resume: {} } } },
      2: introductions[2],
    }[version];
    client.request(0, "initialize", hello[version]);
    const first = await starting;
    first.answer(await first.asked("initialize"), introduction);
    await client.answered(0);
    await newSession(client, first, "s");
    await newSession(client, first, "t");
    client.request("lost", "session/prompt", prompt("s", "zero"));
    await first.asked("session/prompt");
    await first.close();
    await client.answered("lost");
    client.request(1, "session/prompt", prompt("s", "one"));
    client.request(2, "session/prompt", prompt("t", "two"));
    while (agents.length < 2) await new Promise(setImmediate);
    const second = agents[1] as RawLinePeer;
    second.answer(await second.asked("initialize"), introduction);
    const [reopeningS, reopeningT] = [
      await second.asked("session/resume"),
      await second.asked("session/resume"),
    ];
    client.request(3, "session/prompt", prompt("s", "three"));
    client.notify("session/cancel", { sessionId: "s" });
    client.notify("_acme/note", { sessionId: "t" });
    for (const id of [1, 3]) {
      const { result, error } = await client.answered(id);
      if (version === 1) assert.deepEqual(result, { stopReason: "cancelled" });
      else assert.equal(error?.code, -32800);
    }
    second.answer(reopeningS, {});
    second.answer(reopeningT, {});
    second.answer(await second.asked("session/prompt"), { stopReason: "end_turn" });
    await client.answered(2);
    // the session goes on
    await works({ client, agent: second }, "next");
    assert.deepEqual(second.got.slice(3).map(brief), [
      "session/prompt two",
      "_acme/note",
      "session/prompt next",
    ]);
    await chain.close();
  });
}

test("an agent that goes away ends the chain with its name, and answers what is open (P26)", async () => {
  const { client, agent, connection } = await opened(empty(2));
  client.request(1, "session/prompt", prompt("s", "go"));
  await agent.asked("session/prompt");
  agent.request("q", "session/request_permission", { sessionId: "s", toolCall: {}, options: [] });
  const question = await client.asked("session/request_permission");
  await agent.close();
  assert.match((await client.answered(1)).error?.message ?? "", /^the agent has gone/);
  assert.equal((await client.asked("$/cancel_request")).params?.["requestId"], question.id);
  assert.match((await connection.closed).message, /^the agent has gone/);
});

/** A transport whose far end never reads. */
function unread(inner: Transport): Transport {
  return wrapTransport(inner, { send: (message, text) => inner.send(message, text) && false });
}

test("a component that reads nothing ends its chain with a named reason; other chains go on (P27)", async () => {
  const { part, peers } = mortal("fail", "stuck");
  let isStuck = false;
  const start = () => {
    const inner = part.start();
    const deaf = unread(inner);
    return wrapTransport(inner, {
      send: (message, text) => (isStuck ? deaf : inner).send(message, text),
    });
  };
  const other = await opened(empty(1));
  const made = await opened([{ ...part, start, stallMs: 50 }]);
  isStuck = true;
  made.client.request(1, "session/prompt", prompt("s", "go"));
  assert.match((await made.connection.closed).message, /^stuck has gone: it has read nothing for 50 ms/);
  assert.match((await made.client.answered(1)).error?.message ?? "", /^stuck has gone/);
  await peers[0]?.ended;
  await works(other, "still");
  await other.chain.close();
});

test("an agent waits for a proxy that is slow: little is kept for it, and nothing is lost (P27)", async () => {
  const [near, far] = memoryPair();
  const slow = rawLinePeer(far, rustProxy(rust5));
  const total = 400;
  let count = 0;
  const agentOf = agent({
    name: "chatty",
    version: "1",
    async prompt(turn) {
      for (; count < total; count++) await turn.say("x".repeat(100_000));
    },
  });
  const { client, chain } = served([() => near, agentOf]);
  client.request(1, "initialize", hello[1]);
  await client.answered(1);
  client.request(2, "session/new", { cwd: "/", mcpServers: [] });
  const { result } = await client.answered(2);
  client.request(3, "session/prompt", prompt(String(result?.["sessionId"]), "go"));
  await slow.next(({ params }) => params?.["method"] === "session/update");
  far.pause();
  let before = -1;
  while (count > before) {
    before = count;
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
  }
  assert.ok(count < total, "the agent did not wait");
  far.resume();
  await client.answered(3);
  const updates = client.got.filter(({ params }) =>
    JSON.stringify(params ?? {}).includes("agent_message_chunk"),
  );
  assert.equal(updates.length, total);
  await chain.close();
});

test("too much for a component that is being started ends the chain with its name (P27)", async () => {
  const part = byHand();
  const { client, connection } = chained([{ name: "slow", start: part.start }]);
  client.request(1, "initialize", hello[1]);
  await part.peer(0);
  const large = "x".repeat(1024 * 1024);
  for (let i = 0; i < 40; i++) client.notify("_acme/note", { large });
  assert.match((await client.answered(1)).error?.message ?? "", /^slow: too much waits for it/);
  assert.match((await connection.closed).message, /^slow: too much waits for it/);
});

test("a request that is cancelled while it waits for a component no longer counts towards the limit (P27)", async () => {
  const part = byHand();
  const { client, chain } = chained([{ name: "slow", start: part.start }]);
  client.request("hello", "initialize", hello[1]);
  await part.peer(0);
  const large = "x".repeat(1024 * 1024);
  for (let i = 0; i < 40; i++) {
    client.request(i, "_acme/ask", { large });
    client.notify("$/cancel_request", { requestId: i });
    assert.equal((await client.answered(i)).error?.code, -32800);
  }
  await chain.close();
});

test("a message that was sent before a component ended again no longer counts towards the limit (P27)", async () => {
  const { part, peers, peer } = mortal("restart");
  const third = Promise.withResolvers<void>();
  let sent = 0;
  const start = () => {
    const number = peers.length + 1;
    if (number === 3) return lateTransport(() => third.promise.then(part.start));
    const inner = part.start();
    let sink: Sink | undefined;
    return wrapTransport(inner, {
      start(given) {
        sink = given;
        inner.start(given);
      },
      send(message, text) {
        const { method } = message as Wire;
        // the second one ends while it gets the messages that waited
        if (number === 2 && method === "_acme/note" && ++sent === 15) sink?.end({ kind: "closed" });
        return inner.send(message, text);
      },
    });
  };
  const { client, agent, chain } = await opened([{ ...part, start }]);
  const large = "x".repeat(1024 * 1024);
  await peers[0]?.close();
  for (let i = 0; i < 20; i++) client.notify("_acme/note", { large, i });
  await peer(1);
  while (sent < 15) await new Promise(setImmediate);
  for (let i = 20; i < 40; i++) client.notify("_acme/note", { large, i });
  client.request("last", "_acme/ask", {});
  for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
  third.resolve();
  agent.answer(await agent.asked("_acme/ask"), {});
  assert.deepEqual((await client.answered("last")).result, {});
  await chain.close();
});

test("a policy is never bypassed and never open, whoever says that it is one", async () => {
  const rules = proxy({ name: "rules", version: "1", policy: true });
  for (const [part, words] of [
    [
      { name: "rules", start: rules, onExit: "bypass" },
      /rules cannot be bypassed: it decides what is allowed/,
    ],
    [{ name: "rules", start: rules, errors: "open" }, /the errors of rules cannot be open/],
    [{ name: "x", start: byHand().start, onExit: "bypass", policy: true }, /x cannot be bypassed/],
    [{ name: "x", start: byHand().start, errors: "open", policy: true }, /the errors of x cannot be open/],
  ] as const) {
    assert.throws(() => conductor([part, byHand().start]), { name: "TypeError", message: words });
  }
  assert.throws(() => proxy({ name: "rules", version: "1", policy: true, errors: "open" }), /cannot be open/);
});

test("a chain that would bypass an agent is refused with the reason", async () => {
  const words = /^conductor: a stands at the end of the chain and cannot be bypassed: nothing is behind it/;
  const inProcess = agent({ name: "a", version: "1", prompt: () => undefined });
  const part = { name: "a", start: inProcess, onExit: "bypass" } as const;
  assert.throws(() => conductor([...empty(1), part]), { name: "TypeError", message: words });
  const inner = conductor([...empty(1), inProcess]);
  assert.throws(() => conductor([{ ...part, start: inner }]), { name: "TypeError", message: words });
  // a program may be a proxy, which is known only when a client initialises
  const { client, chain } = chained(empty(1), { onExit: "bypass" });
  client.request(1, "initialize", hello[1]);
  assert.match(
    (await client.answered(1)).error?.message ?? "",
    /^the agent stands at the end of the chain and cannot be bypassed/,
  );
  await chain.close();
});

/** A proxy of ours as a program of its own. */
const asProgram = (made: Pick<AcpProxy, "connect">) => () => {
  const [near, far] = memoryPair();
  made.connect(far);
  return near;
};

test("a program that says that it decides what is allowed is not bypassed; what stands before it may be", async () => {
  const rules = asProgram(proxy({ name: "rules", version: "1", policy: true }));
  const plain = {
    name: "plain",
    start: asProgram(proxy({ name: "plain", version: "1" })),
    onExit: "bypass",
  } as const;
  for (const onExit of ["bypass", "restart"] as const) {
    const { client, agent: starting, chain } = chained([plain, { name: "rules", start: rules, onExit }]);
    client.request(1, "initialize", hello[1]);
    const agent = await starting;
    agent.answer(await agent.asked("initialize"), introductions[1]);
    const { error, result } = await client.answered(1);
    if (onExit === "restart") assert.deepEqual(result, introductions[1]);
    else
      assert.match(
        error?.message ?? "",
        /^rules says that it decides what is allowed: it cannot be bypassed/,
      );
    await chain.close();
  }
});

test("a client that ends its output gets the answers that it is still owed", async () => {
  for (const parts of [[], empty(1), [mortal("fail").part]]) {
    const [left, right] = bytePipe();
    const agents = byHand();
    conductor([...parts, agents.start]).connect(byteTransport(right, { platform: webPlatform }));
    const client = rawLinePeer(byteTransport(left, { platform: webPlatform }));
    const agent = await handshake(client, agents.peer(0));
    client.request(1, "session/prompt", prompt("s", "go"));
    const asked = await agent.asked("session/prompt");
    left.endOutput();
    agent.request("q", "session/request_permission", { sessionId: "s", toolCall: {}, options: [] });
    assert.match((await agent.answered("q")).error?.message ?? "", /^the client has gone/);
    agent.notify("session/update", said("s", "late"));
    agent.answer(asked, { stopReason: "end_turn" });
    assert.deepEqual((await client.answered(1)).result, { stopReason: "end_turn" });
    assert.equal(client.got.at(-2)?.method, "session/update");
    await agent.ended;
  }
});

test("a hook that does nothing ends its chain after hookMs; one that asks somebody may wait (P27)", async () => {
  const never = new Promise<undefined>(() => undefined);
  const asking = proxy({
    name: "asking",
    version: "1",
    hookMs: 20,
    async prompt(_, session) {
      await session.request("client", "_acme/may-it", {});
      return refuse("no");
    },
  });
  const patient = await opened([asking]);
  patient.client.request(1, "session/prompt", prompt("s", "go"));
  const question = await patient.client.asked("_acme/may-it");
  const stuck = proxy({ name: "stuck", version: "1", hookMs: 30, prompt: () => never });
  const { client, connection } = await opened([stuck]);
  client.request(1, "session/prompt", prompt("s", "go"));
  const { error } = await client.answered(1);
  assert.match(error?.message ?? "", /^stuck: its hook for session\/prompt has not settled for 30 ms$/);
  await connection.closed;
  // the other one has waited for longer than its own limit
  patient.client.answer(question, {});
  assert.equal((await patient.client.answered(1)).error?.message, "no");
  await patient.chain.close();
});
