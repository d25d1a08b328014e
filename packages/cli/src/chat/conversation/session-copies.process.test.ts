// Tests copies of sessions: they have the conversation of their original.

import assert from "node:assert/strict";
import { test } from "node:test";
import { client } from "@parley/acp";
import { openHistory } from "@parley/client/history";
import {
  chatHome,
  chatWith,
  farAgent,
  patience,
  promptsIn,
  saidIn,
} from "../../../test/support/chat-probe.ts";
import { historyPath } from "../../settings/data-folder.ts";

const text = (words: string) => ({ text: words });

test("a session is copied where the agent can", patience, async (t) => {
  const far = await farAgent(t, { unstable: ["fork"], otherwise: [{ say: "hello {{prompt}}" }] });
  const { cwd } = chatHome(t, { far });
  const { conversation, session, answered, until } = chatWith(t, { cwd, agent: "far" });
  session.send(text("one"));
  await answered(1);
  assert.equal(session.agent.accepts.forks, true);
  const copy = conversation.open({ kind: "fork", of: session });
  copy.send(text("two"));
  await until(() => saidIn(copy) === "hello one|hello two");
  assert.equal(saidIn(session), "hello one");
  assert.deepEqual([session.title, copy.title], ["one", "one (copy)"]);
  await session.close();
  copy.send(text("three"));
  await until(() => saidIn(copy) === "hello one|hello two|hello three");
});

test(
  "a copy has the whole conversation, also in another process and without the original",
  patience,
  async (t) => {
    const far = await farAgent(t, { unstable: ["fork"], otherwise: [{ say: "hello {{prompt}}" }] });
    const { cwd } = chatHome(t, { far });
    const first = chatWith(t, { cwd, agent: "far" });
    first.session.send(text("banana"));
    await first.answered(1);
    const copy = first.conversation.open({ kind: "fork", of: first.session });
    await first.until(() => copy.phase === "ready");
    assert.match(await first.exported("markdown", copy), /banana[\s\S]*hello banana/);
    const [id, original] = [copy.historyId ?? "", first.session.historyId ?? ""];
    await first.conversation.close();
    const history = openHistory({ path: historyPath() });
    await history.delete(original);
    const hits = await history.search("banana");
    assert.deepEqual([...new Set(hits.map((hit) => hit.session.id))], [id]);
    await history.close();
    const second = chatWith(t, { cwd, agent: "far", session: id });
    await second.until(() => second.session.phase === "ready");
    assert.deepEqual([promptsIn(second.session), saidIn(second.session)], ["banana", "hello banana"]);
  },
);

test(
  "a session that another program began is stored with the conversation that the agent shows, and so is a copy of its copy",
  patience,
  async (t) => {
    const far = await farAgent(t, { unstable: ["fork"], otherwise: [{ say: "hello {{prompt}}" }] });
    const { cwd } = chatHome(t, { far });
    const elsewhere = await client({ name: "editor", version: "1.0.0" }).connect(far.open());
    const begun = await elsewhere.newSession({ cwd });
    await begun.prompt("banana").result;
    await elsewhere.close();
    const first = chatWith(t, { cwd, agent: "far", session: begun.sessionId });
    await first.until(() => first.session.phase === "ready");
    first.session.send(text("apple"));
    await first.answered(1);
    const whole = /banana[\s\S]*hello banana[\s\S]*apple[\s\S]*hello apple/;
    assert.match(await first.exported("markdown"), whole);
    const copy = first.conversation.open({ kind: "fork", of: first.session });
    await first.until(() => copy.phase === "ready");
    assert.equal(promptsIn(copy), "banana|apple");
    const again = first.conversation.open({ kind: "fork", of: copy });
    await first.until(() => again.phase === "ready");
    assert.equal(saidIn(again), "hello banana|hello apple");
    const exported = await first.exported("markdown", again);
    assert.match(exported, whole);
    assert.equal(exported.match(/hello banana/g)?.length, 1);
    await first.conversation.close();
    const second = chatWith(t, { cwd, agent: "far", session: begun.sessionId });
    await second.until(() => second.session.phase === "ready");
    assert.equal(saidIn(second.session), "hello banana|hello apple");
    second.session.send(text("plum"));
    await second.answered(1);
    const later = await second.exported("markdown");
    assert.equal(later.match(/hello banana/g)?.length, 1, "what was stored is not stored again");
  },
);

test(
  "where nothing is stored, an export says so, and a copy says what it cannot show",
  patience,
  async (t) => {
    const far = await farAgent(t, { unstable: ["fork"], otherwise: [{ say: "hello" }] });
    const { cwd } = chatHome(t, { far });
    const { conversation, session, answered, until, notices, exported } = chatWith(t, {
      cwd,
      agent: "far",
      keepsHistory: false,
    });
    session.send(text("one"));
    await answered(1);
    await assert.rejects(exported("markdown"), /the demo and --no-history store nothing/);
    const copy = conversation.open({ kind: "fork", of: session });
    assert.equal(copy.title, "one (copy)");
    await until(() => copy.phase === "ready" && /cannot be shown here/.test(notices()));
  },
);
