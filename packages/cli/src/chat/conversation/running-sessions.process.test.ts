// Tests that a session whose agent says that it works is one that works, whatever made it begin.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { agent, client } from "@parley/acp";
import { chatHome, chatWith, patience, saidIn, servedBySocket } from "../../../test/support/chat-probe.ts";
import { type SteeringAgent, steeringAgent } from "../../../test/support/steering-agent.ts";
import { SessionReview } from "../review/session-review.ts";

const text = (words: string) => ({ text: words });

/** A conversation with a review, as chat has it. */
async function chat(t: TestContext) {
  const far: SteeringAgent = await steeringAgent(t);
  const { cwd } = chatHome(t, { far });
  const reviews: SessionReview[] = [];
  let ends = 0;
  const snapshot = Promise.withResolvers<void>();
  const made = chatWith(
    t,
    { cwd, agent: "far" },
    {
      changes: (place) => {
        const review = new SessionReview(place);
        reviews.push(review);
        t.after(() => review.close());
        const begin = review.begin.bind(review);
        review.begin = (prompt) => begin(prompt).then(snapshot.resolve);
        const end = review.end.bind(review);
        review.end = () => {
          ends += 1;
          return end();
        };
        return review;
      },
    },
  );
  const changed = async () => {
    const { files } = (await reviews[0]?.changes()) ?? { files: [] };
    return files.map(({ path }) => basename(path)).join();
  };
  return { far, cwd, reviews, changed, snapshot: snapshot.promise, ends: () => ends, ...made };
}

test(
  "an agent that ends its turn for a message and works on is working: its files are in the review, and undone",
  patience,
  async (t) => {
    const { far, cwd, session, until, events, reviews, changed, ends } = await chat(t);
    session.send(text("a slow prompt"));
    await until(() => saidIn(session) === "about a slow prompt");
    assert.equal(await session.steer(text("turn right")), "steered");
    await until(() => saidIn(session) === "about a slow prompt|about turn right");
    assert.equal(await changed(), "");
    assert.equal(ends(), 0, "the turn goes on");
    assert.equal(session.turn?.isCancelling, false, "it is shown as working");
    far.write("right.txt", "right\n");
    far.end();
    await until(() => session.turn === undefined);
    const ended = events.flatMap((event) => (event.kind === "turn" ? [event.summary] : []));
    assert.deepEqual(
      ended.map(({ result, changed: files }) => [result.stopReason, files?.files]),
      [["end_turn", 1]],
    );
    assert.equal(await changed(), "right.txt");
    const undone = await reviews[0]?.undoTurn();
    assert.ok(typeof undone === "object", String(undone));
    assert.equal(existsSync(join(cwd, "right.txt")), false);
  },
);

test("a message that an agent took after its turn is stopped like every other work", patience, async (t) => {
  const { far, session, until, events } = await chat(t);
  session.send(text("a slow prompt"));
  await until(() => saidIn(session) === "about a slow prompt");
  await session.steer(text("turn right"));
  await until(() => saidIn(session) === "about a slow prompt|about turn right");
  session.cancel();
  await until(() => session.turn === undefined);
  assert.deepEqual(
    far.methods.filter((method) => method === "session/cancel"),
    ["session/cancel"],
  );
  const [ended] = events.flatMap((event) => (event.kind === "turn" ? [event.summary] : []));
  assert.equal(ended?.result.stopReason, "cancelled");
  assert.equal(session.phase, "ready");
});

test(
  "an agent that begins by itself is working and can be stopped; its files are in the review",
  patience,
  async (t) => {
    const { far, session, until, changed, snapshot } = await chat(t);
    await until(() => session.phase === "ready");
    far.begin();
    await snapshot;
    assert.ok(session.turn !== undefined);
    far.write("own.txt", "mine\n");
    session.send(text("later"));
    await until(() => session.queue.length === 1);
    assert.ok(session.turn !== undefined, "a prompt waits until it has ended");
    session.cancel();
    await until(() => session.turn === undefined);
    assert.ok(far.methods.includes("session/cancel"));
    assert.equal(await changed(), "own.txt");
  },
);

test("an agent that crashes in work of its own has crashed, and what waits is kept", patience, async (t) => {
  const { far, session, until } = await chat(t);
  await until(() => session.phase === "ready");
  far.begin();
  await until(() => session.turn !== undefined);
  session.send(text("later"));
  await until(() => session.queue.length === 1);
  far.cut();
  await until(() => session.phase === "crashed" && session.turn === undefined);
  assert.deepEqual(
    session.queue.map((each) => each.text),
    ["later"],
  );
});

test(
  "a session that another client takes in a turn says so; it goes on here when that client has left",
  patience,
  async (t) => {
    const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const made = agent({
      name: "shared",
      version: "1.0.0",
      async prompt(turn) {
        await turn.say("working");
        begun.resolve();
        await go.promise;
      },
    });
    t.after(() => made.close());
    const far = await servedBySocket(t, (transport) => made.connect(transport));
    const { cwd } = chatHome(t, { far });
    const { session, until, events } = chatWith(t, { cwd, agent: "far" });
    session.send(text("mine"));
    await begun.promise;
    const other = await client({ name: "other", version: "1.0.0" }).connect(far.open());
    t.after(() => other.close());
    await until(() => session.sessionId !== undefined);
    const { sessionId = "" } = session;
    await other.resumeSession(sessionId, { cwd, _meta: { "_parley.dev/takeover": true } });
    await until(() => session.phase === "crashed" && session.turn === undefined);
    assert.equal(session.problem?.status, "taken");
    assert.match(session.problem?.message ?? "", /another client has taken the session/);
    const [ended] = events.flatMap((event) => (event.kind === "turn" ? [event.summary] : []));
    assert.equal(ended?.result.stopReason, "cancelled");
    assert.deepEqual(session.queue, [], "what goes on elsewhere is not sent again");
    // as long as the other client has it, it stays there
    await session.restart();
    await until(() => session.phase === "crashed");
    assert.match(session.problem?.message ?? "", /another client still has the session/);
    go.resolve();
    await other.close();
    await session.restart();
    await until(() => session.phase === "ready");
  },
);
