// Tests a rewind through the public host of an app: with history and review, over a link that repeats commands.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Conversation, openConversation, type SessionLink } from "@parley/client/conversation";
import { openHistory } from "@parley/client/history";
import { openHost } from "@parley/client/host";
import type { AgentScenario } from "@parley/conformance/testing";
import { openReview } from "@parley/review";
import { patience, scripted } from "../../test/support/managed-probe.ts";

function hosted(t: TestContext, play: Partial<AgentScenario>) {
  const folder = mkdtempSync(join(tmpdir(), "parley-rewind-"));
  const cwd = mkdtempSync(join(folder, "work-"));
  const { entry } = scripted(t, { play: { otherwise: [{ say: "heard {{prompt}}" }], ...play } });
  const history = openHistory({ path: join(folder, "history.db") });
  const host = openHost([entry.command, ...entry.args], {
    name: "app",
    version: "1.0.0",
    cwd,
    history,
    unstable: ["fork"],
    permissions: { rules: ["allow write"] },
    review: (roots, session) =>
      openReview({ roots, stateFolder: join(folder, "review"), session: session ?? "none" }),
  });
  t.after(async () => {
    await host.close();
    await history.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { host, history, cwd };
}

/** Resolves when it is true. */
function until(conversation: Conversation, isTrue: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!isTrue()) return;
      remove();
      resolve();
    };
    const remove = conversation.onEvent(check);
    check();
  });
}

async function ask(conversation: Conversation, text: string): Promise<void> {
  let turns = 0;
  const remove = conversation.onEvent(({ kind }) => {
    if (kind === "turn") turns += 1;
  });
  conversation.send({ text });
  await until(conversation, () => turns > 0);
  remove();
}

const promptsOf = ({ prompts }: Conversation) => prompts.map(({ text }) => text);

for (const [unstable, memory] of [
  [["fork"], "kept"],
  [[], "told"],
] as const)
  test(`a session is rewound by one command, carried out once: ${memory}`, patience, async (t) => {
    const { host, history } = hosted(t, { unstable });
    const link = host.open();
    const conversation = openConversation(link);
    await ask(conversation, "one");
    await ask(conversation, "two");
    const messageId = conversation.prompts[1]?.messageId ?? "";
    const command = { kind: "rewind", key: "k1", messageId } as const;
    const [first, again] = await Promise.all([link.submit(command), link.submit(command)]);
    assert.equal(first, again);
    assert.deepEqual([first.memory, first.input?.text], [memory, "two"]);
    const branch = openConversation(opened(host, first.session.historyId));
    await until(branch, () => branch.phase === "ready");
    assert.deepEqual(promptsOf(branch), ["one"]);
    assert.deepEqual(branch.branches?.from?.historyId, conversation.historyId);
    assert.deepEqual(conversation.branches?.to?.historyId, branch.historyId);
    const left = await history.find(conversation.historyId ?? "");
    assert.equal(left?.rewoundTo, branch.historyId);
    await ask(branch, "other");
    assert.deepEqual(promptsOf(branch), ["one", "other"]);
    // going on in the branch that was left ends that
    await ask(conversation, "more");
    assert.equal(conversation.branches, undefined);
  });

test("the files of an app's session are as they were, and again as they were left", patience, async (t) => {
  const write = { write: "{{cwd}}/a.txt", content: "one\n" };
  // in version 2 agents write files themselves
  const { host, cwd } = hosted(t, { editions: ["v1"], otherwise: [write, { say: "done" }] });
  const conversation = openConversation(host.open());
  const file = join(cwd, "a.txt");
  await ask(conversation, "one");
  const [prompt] = conversation.prompts;
  assert.deepEqual(prompt?.changed, { files: 1, added: 1, removed: 0 });
  const { session, memory, files } = await conversation.rewind(prompt?.messageId ?? "");
  assert.deepEqual([memory, files.files, existsSync(file)], ["new", 1, false]);
  const branch = openConversation(opened(host, session.historyId));
  assert.deepEqual(branch.prompts, []);
  const back = await branch.undoRewind();
  assert.deepEqual([back.memory, back.session.historyId], ["back", conversation.historyId]);
  assert.equal(readFileSync(file, "utf8"), "one\n");
});

function opened(host: ReturnType<typeof openHost>, session: string | undefined): SessionLink {
  return host.open(session === undefined ? {} : { session });
}
