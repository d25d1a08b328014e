// Tests copies of sessions: they have the conversation of their original.

import assert from "node:assert/strict";
import { test } from "node:test";
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
    assert.match(await copy.exported("markdown"), /banana[\s\S]*hello banana/);
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
  "where nothing is stored, an export says so, and a copy says what it cannot show",
  patience,
  async (t) => {
    const far = await farAgent(t, { unstable: ["fork"], otherwise: [{ say: "hello" }] });
    const { cwd } = chatHome(t, { far });
    const { conversation, session, answered, until, notices } = chatWith(t, {
      cwd,
      agent: "far",
      keepsHistory: false,
    });
    session.send(text("one"));
    await answered(1);
    await assert.rejects(session.exported("markdown"), /the demo and --no-history store nothing/);
    const copy = conversation.open({ kind: "fork", of: session });
    assert.equal(copy.title, "one (copy)");
    await until(() => copy.phase === "ready" && /cannot be shown here/.test(notices()));
  },
);
