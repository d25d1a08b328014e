import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEntry, createView } from "@parley/acp/view";
import type { Conversation } from "@parley/client/conversation";
import { HeadlessTerminal } from "../../../test/support/headless-terminal.ts";
import { TerminalScreen } from "../../screen/terminal-screen.ts";
import { painter } from "../../terminal/paint.ts";
import { TranscriptPane } from "./transcript-pane.ts";

test("an agent is held while its text is not drawn, and goes on when it is", (t) => {
  const screen = new TerminalScreen(new HeadlessTerminal(80, 24), {});
  t.after(() => screen.close());
  const pane = new TranscriptPane({ screen, isAnimated: false, paint: painter(false, {}) });
  const view = createView();
  const held: boolean[] = [];
  // what is read
  const session = {
    key: "1",
    cwd: "/",
    view,
    holdOutput: (isBehind: boolean) => held.push(isBehind),
  } as unknown as Conversation;
  pane.update(session, 0);
  assert.deepEqual(held, [false]);
  const text = "some words of the agent, as many as fit into a line\n".repeat(2_000);
  const content = { type: "text", text } as const;
  const update = { sessionUpdate: "agent_message_chunk", messageId: "m", content } as const;
  applyEntry(view, { format: 1, seq: 1, time: 0, kind: "update", update });
  pane.update(session, 16);
  assert.deepEqual([pane.isBehind, held.at(-1)], [true, true]);
  for (let frame = 2; pane.isBehind; frame += 1) pane.update(session, frame * 16);
  assert.ok(held.length > 5, "one frame draws a part of it");
  assert.equal(held.at(-1), false);
});
