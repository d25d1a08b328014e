import assert from "node:assert/strict";
import { conversation, inEveryVersion, openSession, place, text } from "../../test/support/peer-probe.ts";
import type { Entry } from "../index.ts";
import { followSession, snapshot, viewFrom } from "../view.ts";

inEveryVersion("a followed session has everything in its view, and reports each change", async (pair) => {
  const { agent } = await conversation(pair, {
    async prompt(turn) {
      await turn.say("hello");
      await turn.tool({ title: "Look" }, () => undefined);
    },
  });
  const session = await agent.newSession(place);
  const entries: Entry[] = [];
  session.onEntry((entry) => {
    entries.push(entry);
  });
  const seen: number[] = [];
  const view = followSession(session, (changed) => {
    assert.equal(changed, view);
    seen.push(changed.seq);
  });
  const { seq } = view;
  await session.prompt("go").result;
  assert.equal(view.lastResult?.stopReason, "end_turn");
  const later = entries.filter((entry) => entry.seq > seq);
  assert.deepEqual(
    seen,
    later.map((entry) => entry.seq),
  );
  assert.deepEqual(snapshot(view), snapshot(viewFrom(entries)));
  await agent.close();
});

inEveryVersion("what came before a session was followed is in the view when it is returned", async (pair) => {
  const { agent } = await conversation(pair, { prompt: (turn) => void turn.say("hi") });
  const session = await agent.newSession(place);
  await session.prompt("x").result;
  let changes = 0;
  const view = followSession(session, () => {
    changes++;
  });
  assert.deepEqual([view.timeline.length > 1, changes], [true, 0]);
  assert.deepEqual(
    view.timeline.flatMap((item) => (item.kind === "agent_message" ? [item.content] : [])),
    [[text("hi")]],
  );
  await agent.close();
});

inEveryVersion("a view that was disposed of stays as it is", async (pair) => {
  const { session, agent } = await openSession(pair, { prompt: (turn) => void turn.say("hi") });
  let changes = 0;
  const view = followSession(session, () => {
    changes++;
  });
  view[Symbol.dispose]();
  const { seq } = view;
  await session.prompt("x").result;
  assert.deepEqual([view.seq, changes], [seq, 0]);
  await agent.close();
});
