import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aborted,
  conversation,
  failsWith,
  inEveryVersion,
  openSession,
  place,
  quiet,
  rejects,
  said,
  states,
  statuses,
  withScriptedAgent,
} from "../../../test/support/peer-probe.ts";
import { type AgentDefinition, ConnectionError } from "../../index.ts";
import { memoryStore, type SessionStore } from "../../store.ts";

/** A store that fails where and when it is told to. */
function brittle(): { store: SessionStore; broken: Set<keyof SessionStore> } {
  const good = memoryStore();
  const broken = new Set<keyof SessionStore>();
  const store = new Proxy(good, {
    get(target, key: keyof SessionStore) {
      if (!broken.has(key)) return target[key];
      return async () => {
        throw new Error("disk on fire at /secret/path");
      };
    },
  });
  return { store, broken };
}

const echo: AgentDefinition["prompt"] = (turn) => void turn.say(`you said ${turn.text}`);

inEveryVersion(
  "a store that fails refuses with -32067, names no path, and acknowledges nothing",
  async (pair) => {
    const { store, broken } = brittle();
    const { session, agent, updates } = await openSession(pair, { session: { store }, prompt: echo });
    broken.add("append");
    const prompt = session.prompt("lost");
    const error = await failsWith(prompt.result, -32067, { reason: "unavailable" });
    await rejects(prompt.accepted, -32067).catch(() => assert.equal(pair.version, 1));
    assert.ok(!JSON.stringify([error.message, error.data]).includes("secret"));
    assert.equal(said(updates), "");
    broken.clear();
    // and it goes on where it was, without what was refused
    assert.equal((await session.prompt("kept").result).stopReason, "end_turn");
    await session.close();
    const again = await agent.loadSession(session.sessionId, place);
    const texts: string[] = [];
    again.onUpdate((update) => void texts.push(JSON.stringify(update)));
    assert.ok(texts.join().includes("kept") && !texts.join().includes("lost"));
  },
);

inEveryVersion("every request that needs the store is -32067 while it fails", async (pair) => {
  const { store, broken } = brittle();
  const { agent, session } = await openSession(pair, { session: { store }, prompt: echo });
  for (const key of ["create", "get", "list", "delete"] as const) broken.add(key);
  await rejects(agent.newSession(place), -32067);
  await rejects(agent.loadSession("x", place), -32067);
  await rejects(agent.listSessions(), -32067);
  await rejects(agent.deleteSession("x"), -32067);
  assert.equal((await session.prompt("x").result).stopReason, "end_turn");
});

inEveryVersion(
  "an end that cannot be stored is not acknowledged, and a tool's status still ends",
  async (pair) => {
    const { store, broken } = brittle();
    const { session, updates } = await openSession(pair, {
      session: { store },
      async prompt(turn) {
        await turn.tool({ title: "T" }, () => void (turn.text === "x" && broken.add("append")));
        turn.say("done");
      },
    });
    const end = await session.prompt("x").result.catch((error) => ({ error }));
    assert.equal((end as { error?: { code: number } }).error?.code, -32067);
    assert.deepEqual(statuses(updates), ["pending", "in_progress", "completed"]);
    broken.clear();
    assert.equal(
      (await session.prompt("y").result.catch((error) => error)).stopReason ?? "end_turn",
      "end_turn",
    );
  },
);

inEveryVersion("a session whose store fails can be closed, and the app hears of it", async (pair) => {
  const { store, broken } = brittle();
  let closed = 0;
  const { session, updates } = await openSession(pair, {
    session: { store, close: () => void closed++ },
    prompt: echo,
  });
  await session.prompt("x").result;
  broken.add("append").add("release");
  await session.close();
  assert.equal(closed, 1);
  assert.ok(said(updates));
});

inEveryVersion(
  "G4 when the agent dies each prompt has one outcome: the reason, or cancelled if it was",
  async (pair) => {
    for (const cancel of [false, true]) {
      const { session, agent, cut, updates } = await openSession(pair, {
        prompt: (turn) => aborted(turn.signal),
      });
      const [one, two] = [session.prompt("1"), session.prompt("2")];
      await one.accepted;
      await quiet();
      if (cancel) one.cancel();
      const before = updates.length;
      await cut();
      const reason = await agent.closed;
      assert.ok(reason instanceof ConnectionError);
      if (cancel) assert.equal((await one.result).stopReason, "cancelled");
      else await assert.rejects(one.result, (error: ConnectionError) => error.kind === "closed");
      const second = await two.result.catch((error: unknown) => error);
      assert.ok(
        second instanceof ConnectionError || (second as { stopReason: string }).stopReason === "cancelled",
      );
      const users = updates.slice(before).filter(({ sessionUpdate }) => sessionUpdate === "user_message");
      assert.deepEqual(users, [], "nothing is shown as sent that was not");
      await assert.rejects(session.prompt("3").result, ConnectionError);
      await assert.rejects(agent.newSession(place), ConnectionError);
      const iterated = (async () => {
        for await (const _ of session.prompt("4"));
      })();
      await assert.rejects(iterated, ConnectionError);
    }
  },
);

inEveryVersion(
  "when the client dies the turn is cancelled, its tools end, and the session is freed",
  async (pair) => {
    const store = memoryStore();
    const ended: string[] = [];
    const gone = Promise.withResolvers<void>();
    const { session, agent, served } = await openSession(pair, {
      session: {
        store,
        close: () => {
          ended.push("session");
          gone.resolve();
        },
      },
      async prompt(turn) {
        turn.say("working");
        await turn.tool({ title: "T" }, () => aborted(turn.signal)).catch(() => ended.push("tool"));
        assert.equal(await turn.requestPermission("?"), undefined);
        ended.push("turn");
      },
    });
    const prompt = session.prompt("x");
    prompt.result.catch(() => undefined);
    for await (const update of prompt) if (update.sessionUpdate === "tool_call_update") break;
    await agent.close();
    await gone.promise;
    await served.closed;
    assert.deepEqual(ended, ["tool", "turn", "session"]);
    const later = await conversation(pair, { session: { store }, prompt: echo });
    assert.ok(await later.agent.loadSession(session.sessionId, place), "another connection may have it");
  },
);

inEveryVersion(
  "an agent that dies at work leaves its session idle, and says so to loops and views, once",
  async (pair) => {
    const { session, updates, cut, agent } = await openSession(pair, {
      prompt(turn) {
        turn.say("working");
        return aborted(turn.signal);
      },
    });
    const prompt = session.prompt("x");
    prompt.result.catch(() => undefined);
    const seen: string[] = [];
    const loop = (async () => {
      for await (const update of prompt) {
        seen.push(...states([update]));
        if (said([update]) === "working") await cut();
      }
    })();
    await assert.rejects(loop, ConnectionError);
    await agent.closed;
    assert.deepEqual(seen, ["running", "idle"]);
    assert.deepEqual(states(updates), ["running", "idle"]);
    assert.equal((updates.at(-1) as { stopReason?: string }).stopReason, "error");
    assert.equal(session.state, "idle");
  },
);

test("work that no prompt of ours began also ends with its agent (v2)", async () => {
  const { agent, peer, cut } = await withScriptedAgent(2, {});
  const session = await agent.newSession(place);
  peer.update("s1", { sessionUpdate: "state_update", state: "requires_action" });
  await quiet();
  assert.equal(session.state, "requires_action");
  await cut();
  await agent.closed;
  assert.equal(session.state, "idle");
});

test("G4 death before the session has a name rejects whoever waits for it, once", async () => {
  for (const version of [1, 2] as const) {
    const { agent, cut } = await withScriptedAgent(version, {
      "session/new": () => new Promise(() => undefined),
    });
    const opening = agent.newSession(place);
    opening.catch(() => undefined);
    await quiet();
    await cut();
    await assert.rejects(opening, (error: ConnectionError) => error.kind === "closed");
  }
});

test("questions that are open when the agent dies are aborted", async () => {
  const signals: AbortSignal[] = [];
  const { agent, peer, cut } = await withScriptedAgent(
    2,
    {},
    {
      requestPermission: (_ask, { signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    },
  );
  await agent.newSession(place);
  const asked = peer.connection.request("session/request_permission", {
    sessionId: "s1",
    title: "T",
    options: [{ optionId: "a", name: "A", kind: "allow_once" }],
  });
  asked.catch(() => undefined);
  await quiet();
  await cut();
  await agent.closed;
  assert.deepEqual(
    signals.map(({ aborted: is }) => is),
    [true],
  );
});

test("a failed prompt that nobody looks at is no unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const listener = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", listener);
  try {
    for (const version of [1, 2] as const) {
      const { agent } = await withScriptedAgent(version, {});
      const session = await agent.newSession(place);
      session.prompt("refused: there is no session/prompt");
      await quiet();
      session.prompt("and this one dies");
      await agent.close();
      await quiet();
      await quiet();
    }
  } finally {
    process.off("unhandledRejection", listener);
  }
  assert.deepEqual(unhandled, []);
});
