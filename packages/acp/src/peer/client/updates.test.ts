import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chunk,
  place,
  quiet,
  said,
  states,
  text,
  withScriptedAgent,
} from "../../../test/support/peer-probe.ts";
import type { Entry, SessionUpdate } from "../../index.ts";

const idle = (stopReason?: string) => ({
  sessionUpdate: "state_update",
  state: "idle",
  ...(stopReason === undefined ? {} : { stopReason }),
});
const running = { sessionUpdate: "state_update", state: "running" };
const echo = (messageId: string) => ({ sessionUpdate: "user_message", messageId, content: [text("x")] });

function listen(session: { onUpdate(listener: (update: SessionUpdate) => void): unknown }): SessionUpdate[] {
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => void updates.push(update));
  return updates;
}

test("G6 updates that come before the answer that names their session are kept and come first", async () => {
  for (const version of [1, 2] as const) {
    const commands = [{ ...(version === 2 ? { type: "command" } : {}), name: "go", description: "goes" }];
    const { agent, peer } = await withScriptedAgent(version, {
      "session/new": () => {
        peer.update("s1", { sessionUpdate: "available_commands_update", availableCommands: commands });
        peer.update("s1", chunk("early", "m0"));
        peer.update("other", chunk("nobody's", "m0"));
        return { sessionId: "s1", configOptions: [] };
      },
    });
    const session = await agent.newSession(place);
    peer.update("s1", chunk(" late", "m0"));
    await quiet();
    assert.equal(session.availableCommands.length, 1);
    assert.equal(said(listen(session)), "early late");
  }
});

test("G1 an update behind the answer in the same write belongs to the session that the answer names", async () => {
  for (const version of [1, 2] as const) {
    const { agent, peer } = await withScriptedAgent(version, {
      "session/new": (_params, request) => {
        request.afterReply(() => peer.update("s1", chunk("right behind", "m")));
        return { sessionId: "s1" };
      },
    });
    const session = await agent.newSession(place);
    await quiet();
    assert.equal(said(listen(session)), "right behind");
  }
});

test("what an answer says about options is newer than updates before it, and older than those behind it", async () => {
  const option = (currentValue: string) => ({
    id: "mode",
    name: "Mode",
    category: "mode",
    type: "select",
    currentValue,
    options: ["a", "b", "c"].map((value) => ({ value, name: value })),
  });
  const { agent, peer } = await withScriptedAgent(1, {
    "session/new": () => {
      peer.update("s1", { sessionUpdate: "config_option_update", configOptions: [option("a")] });
      return { sessionId: "s1", configOptions: [option("b")] };
    },
  });
  const session = await agent.newSession(place);
  assert.equal((session.configOptions[0] as { currentValue: string }).currentValue, "b");
  peer.update("s1", { sessionUpdate: "current_mode_update", currentModeId: "c" });
  await quiet();
  assert.equal((session.configOptions[0] as { currentValue: string }).currentValue, "c");
});

test("G6 what nobody listens to is bounded, the oldest go, and the log says it once", async () => {
  const { agent, peer, log } = await withScriptedAgent(1, {});
  const session = await agent.newSession(place);
  for (let i = 0; i < 3_000; i++) peer.update("s1", chunk(`${i} `));
  await quiet();
  const updates = listen(session);
  assert.ok(updates.length <= 1_024 && updates.length >= 512, String(updates.length));
  assert.match(said(updates), / 2999 $/);
  session.onEntry(() => undefined);
  assert.equal(log.filter((line) => /^warn: .*has missed updates/.test(line)).length, 1);
});

test("G6 eight mebibytes are kept for those who listen late, not more", async () => {
  const { agent, peer } = await withScriptedAgent(1, {});
  const session = await agent.newSession(place);
  for (let i = 0; i < 12; i++) peer.update("s1", chunk(String(i % 10).repeat(1024 * 1024)));
  await quiet();
  const updates = listen(session);
  assert.ok(updates.length <= 8 && updates.length >= 4, String(updates.length));
});

test("G6 questions and answers before the first listener are kept like updates, numbered and dated", async () => {
  for (const version of [1, 2] as const) {
    const { agent, peer } = await withScriptedAgent(version, {}, { requestPermission: () => "a" });
    const session = await agent.newSession(place);
    peer.update("s1", chunk("first", "m"));
    const subject = version === 1 ? { toolCall: { toolCallId: "t" } } : { title: "T" };
    await peer.connection.request("session/request_permission", {
      sessionId: "s1",
      ...subject,
      options: [{ optionId: "a", name: "A", kind: "allow_once" }],
    });
    const [early, late]: [Entry[], Entry[]] = [[], []];
    session.onEntry((entry) => void early.push(entry));
    session.onEntry((entry) => void late.push(entry));
    assert.equal(said(listen(session)), "first", "the other kind of listener may still join");
    peer.update("s1", chunk("last", "m"));
    await quiet();
    assert.deepEqual(
      early.map(({ seq, kind }) => [seq, kind]),
      [
        [1, "update"],
        [2, "ask"],
        [3, "answer"],
        [4, "update"],
      ],
    );
    assert.ok(early.every(({ time }, at) => time >= (early[at - 1]?.time ?? 1_700_000_000_000)));
    assert.deepEqual(late, early.slice(3), "the same numbers for everybody");
  }
});

test("G6 what comes before its session is named is bounded too, and the log says it once", async () => {
  const { agent, peer, log } = await withScriptedAgent(1, {
    "session/new": () => {
      for (let i = 0; i < 1_500; i++) peer.update("s1", chunk(`${i} `));
      return { sessionId: "s1" };
    },
  });
  const updates = listen(await agent.newSession(place));
  assert.match(said(updates), / 1499 $/);
  assert.ok(updates.length <= 1_024);
  assert.ok(agent.counters.orphanUpdates >= 476);
  assert.equal(log.filter((line) => line.includes("unknown session")).length, 1);
});

test("N119 updates for a session that nobody knows are dropped, and the connection lives", async () => {
  const { agent, peer } = await withScriptedAgent(1, {});
  peer.update("nobody", chunk("x"));
  await quiet();
  assert.ok(await agent.newSession(place));
  assert.equal(agent.counters.orphanUpdates, 1);
});

test("N122 C64 X9 unknown kinds of update are kept as they came; broken ones end nothing", async () => {
  for (const version of [1, 2] as const) {
    const { agent, peer } = await withScriptedAgent(version, {});
    const session = await agent.newSession(place);
    const updates = listen(session);
    peer.update("s1", { sessionUpdate: "current_model_update", model: { deep: [1] } });
    peer.update("s1", { sessionUpdate: "agent_message_chunk", content: 7 });
    peer.update("s1", { sessionUpdate: 7 });
    peer.update("s1", chunk("fine", "m"));
    await quiet();
    assert.deepEqual(updates[0], {
      sessionUpdate: "current_model_update",
      unknown: true,
      raw: { sessionUpdate: "current_model_update", model: { deep: [1] } },
    });
    assert.equal(said(updates), "fine");
  }
});

test("N124 an unknown stop reason is passed on", async () => {
  const { agent } = await withScriptedAgent(1, { "session/prompt": () => ({ stopReason: "aborted" }) });
  const session = await agent.newSession(place);
  const end = await session.prompt("x").result.catch((error: Error) => error);
  assert.ok(!(end instanceof Error), String(end));
  assert.equal(end.stopReason, "aborted");
});

test("C56 an idle that comes before the answer ends the prompt that was echoed before it", async () => {
  const { agent, peer } = await withScriptedAgent(2, {
    "session/prompt": () => {
      peer.update("s1", running);
      peer.update("s1", echo("m1"));
      peer.update("s1", idle("max_tokens"));
      return { messageId: "m1" };
    },
  });
  const session = await agent.newSession(place);
  const prompt = session.prompt("x");
  assert.equal((await prompt.result).stopReason, "max_tokens");
  assert.equal(await prompt.accepted, "m1");
});

test("C56 a snapshot that repeats what is known ends nothing", async () => {
  const { agent, peer } = await withScriptedAgent(2, {
    "session/new": () => {
      peer.update("s1", idle());
      return { sessionId: "s1" };
    },
    "session/prompt": () => ({ messageId: "m1" }),
  });
  const session = await agent.newSession(place);
  const prompt = session.prompt("x");
  await prompt.accepted;
  let ended = false;
  void prompt.result.then(() => {
    ended = true;
  });
  peer.update("s1", idle());
  await quiet();
  assert.equal(ended, false);
  peer.update("s1", running);
  peer.update("s1", idle("end_turn"));
  assert.equal((await prompt.result).stopReason, "end_turn");
});

test("an agent that never says running still ends its second prompt like its first", async () => {
  let turn = 0;
  const { agent, peer } = await withScriptedAgent(2, {
    "session/prompt": (_params, request) => {
      const messageId = `m${++turn}`;
      request.afterReply(() => {
        peer.update("s1", echo(messageId));
        peer.update("s1", chunk("text", `a${turn}`));
        peer.update("s1", idle("end_turn"));
      });
      return { messageId };
    },
  });
  const session = await agent.newSession(place);
  for (let i = 0; i < 3; i++) assert.equal((await session.prompt("x").result).stopReason, "end_turn");
});

test("C55 a state that nobody knows is busy, not idle", async () => {
  const { agent, peer } = await withScriptedAgent(2, { "session/prompt": () => ({ messageId: "m1" }) });
  const session = await agent.newSession(place);
  const updates = listen(session);
  const prompt = session.prompt("x");
  await prompt.accepted;
  peer.update("s1", { sessionUpdate: "state_update", state: "_pondering" });
  await quiet();
  assert.equal(session.state, "_pondering");
  peer.update("s1", idle("end_turn"));
  await prompt.result;
  assert.deepEqual(states(updates), ["_pondering", "idle"]);
});

test("prompts that the agent merges into one work share its outcome, and say so", async () => {
  let turn = 0;
  const { agent, peer } = await withScriptedAgent(2, {
    "session/prompt": () => ({ messageId: `m${++turn}` }),
  });
  const session = await agent.newSession(place);
  const [one, two] = [session.prompt("1"), session.prompt("2")];
  await Promise.all([one.accepted, two.accepted]);
  peer.update("s1", running);
  peer.update("s1", idle("end_turn"));
  assert.deepEqual(await one.result, { stopReason: "end_turn" });
  assert.deepEqual(await two.result, { stopReason: "end_turn", joined: true });
});

test("E1 an agent of an older draft answers without an id: the echo says it", async () => {
  for (const echoFirst of [true, false]) {
    const { agent, peer } = await withScriptedAgent(2, {
      "session/prompt": (_params, request) => {
        const say = () => peer.update("s1", echo("real"));
        if (echoFirst) say();
        else request.afterReply(say);
        return {};
      },
    });
    const session = await agent.newSession(place);
    const entries: Entry[] = [];
    session.onEntry((entry) => void entries.push(entry));
    const prompt = session.prompt("x");
    assert.equal(await prompt.accepted, "real");
    peer.update("s1", running);
    peer.update("s1", idle("end_turn"));
    assert.equal((await prompt.result).stopReason, "end_turn");
    assert.equal(entries.filter(({ kind }) => kind === "prompt").length, 1);
  }
});

test("E1 without any echo the prompt still ends", async () => {
  const { agent, peer } = await withScriptedAgent(2, { "session/prompt": () => ({}) });
  const session = await agent.newSession(place);
  const prompt = session.prompt("x");
  await quiet();
  peer.update("s1", running);
  peer.update("s1", idle("end_turn"));
  assert.equal((await prompt.result).stopReason, "end_turn");
  assert.ok(await prompt.accepted);
});

test("E10 commands without a type are commands, in answers and in updates", async () => {
  const commands = [{ name: "go", description: "goes" }];
  const { agent, peer } = await withScriptedAgent(2, {
    "session/new": () => ({ sessionId: "s1", availableCommands: commands }),
  });
  const session = await agent.newSession(place);
  assert.deepEqual(session.availableCommands, [{ type: "command", name: "go", description: "goes" }]);
  peer.update("s1", {
    sessionUpdate: "available_commands_update",
    availableCommands: [{ name: "stop", description: "stops" }],
  });
  await quiet();
  assert.deepEqual(session.availableCommands, [{ type: "command", name: "stop", description: "stops" }]);
});

test("the iterator of a prompt gives what comes while it is open, and ends with it", async () => {
  for (const version of [1, 2] as const) {
    const { agent, peer } = await withScriptedAgent(version, {
      "session/prompt": (_params, request) => {
        if (version === 1) {
          peer.update("s1", chunk("a"));
          return { stopReason: "end_turn" };
        }
        request.afterReply(() => {
          for (const update of [running, chunk("a", "m"), idle("end_turn")]) peer.update("s1", update);
        });
        return { messageId: "m1" };
      },
    });
    const session = await agent.newSession(place);
    peer.update("s1", chunk("before", "b"));
    await quiet();
    const seen: SessionUpdate[] = [];
    for await (const update of session.prompt("x")) seen.push(update);
    peer.update("s1", chunk("after", "b"));
    await quiet();
    assert.equal(said(seen), "a");
    assert.equal(states(seen).at(-1), "idle");
  }
});

test("a listener that throws is logged, and the others see the update", async () => {
  const { agent, peer, log } = await withScriptedAgent(1, {});
  const session = await agent.newSession(place);
  session.onUpdate(() => {
    throw new Error("mine");
  });
  // whoever has no types may pass an async one
  const later: () => unknown = () => Promise.reject(new Error("mine, later"));
  session.onEntry(later as () => void);
  const updates = listen(session);
  peer.update("s1", chunk("x"));
  await quiet();
  assert.equal(said(updates), "x");
  assert.equal(log.filter((line) => line.includes("a listener threw")).length, 2);
});

test("legacy models are an option, and choosing one sends session/set_model", async () => {
  const models = {
    currentModelId: "small",
    availableModels: [
      { modelId: "small", name: "Small" },
      { modelId: "big", name: "Big" },
    ],
  };
  const { agent, peer } = await withScriptedAgent(1, {
    "session/new": () => ({
      sessionId: "s1",
      models,
      modes: {
        currentModeId: "ask",
        availableModes: [
          { id: "ask", name: "Ask" },
          { id: "code", name: "Code" },
        ],
      },
    }),
    "session/set_model": () => null,
    "session/set_mode": () => ({}),
  });
  const session = await agent.newSession(place);
  const model = session.configOptions.find(({ category }) => category === "model");
  await session.setConfigOption(model?.configId ?? "", "big");
  await session.setMode("code");
  assert.deepEqual(
    peer.got.slice(-2).map(({ params }) => params),
    [
      { sessionId: "s1", modelId: "big" },
      { sessionId: "s1", modeId: "code" },
    ],
  );
  assert.deepEqual(
    session.configOptions.map((option) => (option as { currentValue: string }).currentValue),
    ["code", "big"],
  );
});

test("a field that the protocol does not have is read where the agent wrote it", async () => {
  for (const version of [1, 2] as const) {
    const { agent, peer } = await withScriptedAgent(version, {});
    const updates = listen(await agent.newSession(place));
    const entry = { content: "x", priority: "low", status: "pending", owner: "me" };
    peer.update("s1", { ...chunk("hello", "m"), timestamp: 7 });
    peer.update(
      "s1",
      version === 1
        ? { sessionUpdate: "plan", entries: [entry], timestamp: 8 }
        : {
            sessionUpdate: "plan_update",
            plan: { type: "items", planId: "p", entries: [entry] },
            timestamp: 8,
          },
    );
    await quiet();
    assert.deepEqual(
      updates.map((update) => (update as { timestamp?: number }).timestamp),
      [7, 8],
    );
    assert.match(JSON.stringify(updates[1]), /"owner":"me"/);
  }
});

test("messages without an id get one on version 2, and the log says it once", async () => {
  const { agent, peer, log } = await withScriptedAgent(2, {});
  const updates = listen(await agent.newSession(place));
  for (const words of ["a", "b"]) peer.update("s1", chunk(words));
  peer.update("s1", { sessionUpdate: "tool_call_update", toolCallId: "t", title: "T" });
  peer.update("s1", chunk("c"));
  await quiet();
  assert.equal(said(updates), "abc");
  const [first, second, third] = updates.flatMap((update) =>
    "messageId" in update ? [update.messageId] : [],
  );
  assert.ok(first);
  assert.equal(second, first);
  assert.notEqual(third, first);
  assert.equal(agent.counters.repairedUpdates, 3);
  assert.equal(log.filter((line) => line.includes("repaired an update")).length, 1);
  await agent.close();
  assert.ok(log.some((line) => line.includes("repaired an update that is not valid: 3 times")));
});

test("updates that cannot be read are dropped and counted, and the log has the first and the count", async () => {
  for (const version of [1, 2] as const) {
    const { agent, peer, log } = await withScriptedAgent(version, {});
    await agent.newSession(place);
    for (let i = 0; i < 5; i++) peer.update("s1", { sessionUpdate: "tool_call_update", title: "no id" });
    await quiet();
    assert.equal(agent.counters.invalidUpdates, 5);
    assert.equal(log.filter((line) => line.includes("dropped an update")).length, 1);
    await agent.close();
    assert.ok(log.some((line) => line.includes("dropped an update that is not valid: 5 times")));
  }
});

test("updates right behind the answer of a turn reach the listeners of the session (v1)", async () => {
  const { agent, peer } = await withScriptedAgent(1, {
    "session/prompt": (_, request) => {
      request.afterReply(() => {
        peer.update("s1", chunk("two"));
        peer.update("s1", { sessionUpdate: "tool_call", toolCallId: "t", title: "T" });
      });
      peer.update("s1", chunk("one "));
      return { stopReason: "end_turn" };
    },
  });
  const session = await agent.newSession(place);
  const updates = listen(session);
  await session.prompt("x").result;
  await quiet();
  assert.equal(said(updates), "one two");
  assert.equal(updates.at(-1)?.sessionUpdate, "tool_call_update");
});

test("an announcement that comes late does not set a call back, unless only the client ended it (v1)", async () => {
  const { agent, peer } = await withScriptedAgent(1, {
    "session/new": () => ({ sessionId: "s1" }),
    // no stop reason: the prompt fails, and the client shows open calls as failed
    "session/prompt": () => ({ stopReason: 1 }),
  });
  const session = await agent.newSession(place);
  const updates = listen(session);
  const announce = (toolCallId: string, status: string) =>
    peer.update("s1", { sessionUpdate: "tool_call", toolCallId, title: "Look", status });
  announce("c1", "in_progress");
  announce("c1", "pending");
  announce("c1", "completed");
  announce("c2", "in_progress");
  await quiet();
  await assert.rejects(session.prompt("x").result, { name: "ConnectionError" });
  announce("c1", "in_progress");
  announce("c2", "in_progress");
  announce("c2", "pending");
  await quiet();
  const statuses = updates.flatMap((update) =>
    update.sessionUpdate === "tool_call_update" ? [[update.toolCallId, update.status]] : [],
  );
  assert.deepEqual(statuses, [
    ["c1", "in_progress"],
    ["c1", undefined],
    ["c1", "completed"],
    ["c2", "in_progress"],
    ["c2", "failed"],
    ["c1", undefined],
    ["c2", "in_progress"],
    ["c2", undefined],
  ]);
});

test("updates of several sessions reach their own, and those of a closed session nobody", async () => {
  for (const version of [1, 2] as const) {
    let opened = 0;
    const { agent, peer } = await withScriptedAgent(version, {
      "session/new": () => ({ sessionId: `s${++opened}`, configOptions: [] }),
      "session/close": () => ({}),
    });
    const [one, other] = [await agent.newSession(place), await agent.newSession(place)];
    const heard = [listen(one), listen(other)];
    for (const [at, id] of ["s1", "s1", "s2", "s1", "s2", "s2"].entries())
      peer.update(id, chunk(`${at}`, `m${id}`));
    await quiet();
    await other.close();
    peer.update("s2", chunk("late", "ms2"));
    peer.update("s1", chunk("6", "ms1"));
    await quiet();
    assert.deepEqual(heard.map(said), ["0136", "245"]);
    assert.equal(agent.counters.orphanUpdates, 1);
  }
});
