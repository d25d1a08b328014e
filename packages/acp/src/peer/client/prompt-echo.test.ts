// Tests an agent of version 1 that echoes the prompt: the client shows it once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chunk, place, quiet, said, text, withScriptedAgent } from "../../../test/support/peer-probe.ts";
import type { ClientSession, SessionUpdate } from "../../index.ts";

const user = (words: string, more: object = {}) => ({
  sessionUpdate: "user_message_chunk",
  content: text(words),
  ...more,
});

/** What the user said in the session, one text per message, and all updates, after a prompt that is answered like this. */
async function messages(prompt: Parameters<ClientSession["prompt"]>[0], updates: readonly object[]) {
  const { agent, peer } = await withScriptedAgent(1, {
    "session/new": () => ({ sessionId: "s1" }),
    "session/prompt": () => {
      for (const each of updates) peer.update("s1", each);
      return { stopReason: "end_turn" };
    },
  });
  const session = await agent.newSession(place);
  const seen: SessionUpdate[] = [];
  session.onUpdate((update) => void seen.push(update));
  await session.prompt(prompt).result;
  await quiet();
  const users = new Map<string, string>();
  for (const update of seen) {
    if (update.sessionUpdate === "user_message")
      users.set(update.messageId, JSON.stringify((update.content ?? []).map((block) => block.type)));
    if (update.sessionUpdate === "user_message_chunk")
      users.set(
        update.messageId,
        (users.get(update.messageId) ?? "") + (update.content as { text: string }).text,
      );
  }
  return { users: [...users.values()], said: said(seen), ids: [...users.keys()] };
}

test("a message of the user that is not the prompt is kept, before the answer and in the middle of it", async () => {
  const others = await messages("fix it", [user("another thing"), chunk("done")]);
  assert.deepEqual([others.users, others.said], [['["text"]', "another thing"], "done"]);
  const longer = await messages("fix it", [user("fix it, please"), chunk("done")]);
  assert.deepEqual(longer.users, ['["text"]', "fix it, please"]);
  const half = await messages("fix it now", [user("fix it"), chunk("done")]);
  assert.deepEqual([half.users, half.said], [['["text"]', "fix it"], "done"]);
  const only = await messages("fix it now", [user("fix "), user("it")]);
  assert.deepEqual(only.users, ['["text"]', "fix it"]);
  const late = await messages("fix it", [chunk("well"), user("fix it")]);
  assert.deepEqual(late.users, ['["text"]', "fix it"]);
  const twice = await messages("fix it", [user("fix it"), user("fix it")]);
  assert.deepEqual(twice.users, ['["text"]', "fix it"]);
});

test("an echo of the open prompt is that prompt: whole, in pieces, with an id, behind settings", async () => {
  const commands = { sessionUpdate: "available_commands_update", availableCommands: [] };
  for (const updates of [
    [user("fix it now", { _meta: { source: "bridge-echo" } })],
    [user("fix "), user("it"), user(" now")],
    [user("fix it now", { messageId: "u7" })],
    [commands, user("fix it now")],
    [user("fix it now\n")],
  ]) {
    const { users, said: answer } = await messages("fix it now", [...updates, chunk("done")]);
    assert.deepEqual([users, answer], [['["text"]'], "done"]);
  }
});

test("an echo of several blocks is recognised, and numbers of later messages do not depend on it", async () => {
  const link = { type: "resource_link", name: "a", uri: "file:///a" } as const;
  const shown = { ...user(""), content: link };
  const prompt = [{ type: "text", text: "read" }, link, { type: "text", text: "and go" }] as const;
  const one = await messages([...prompt], [user("read"), shown, user("and go"), chunk("done")]);
  assert.deepEqual([one.users, one.said], [['["text","resource_link","text"]'], "done"]);
  const joined = await messages([...prompt], [user("read\nand go"), shown, chunk("done")]);
  assert.deepEqual(joined.users.length, 1);
  const { ids } = await messages("x", [user("x"), user("y")]);
  assert.deepEqual(
    ids.map((id) => id.split("-").at(-1)),
    ["1", "2"],
  );
});
