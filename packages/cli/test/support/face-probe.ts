// For tests: a conversation on a screen without a window.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { atEnd } from "../../../acp/test/support/at-end.ts";
import { ChatFace } from "../../src/chat/inline/chat-face.ts";
import { SessionReview } from "../../src/chat/review/session-review.ts";
import { TerminalScreen } from "../../src/screen/terminal-screen.ts";
import { type Paint, painter } from "../../src/terminal/paint.ts";
import { chatHome, chatWith, farAgent } from "./chat-probe.ts";
import { HeadlessTerminal } from "./headless-terminal.ts";

export const keys = {
  enter: "\r",
  escape: "\u001b",
  tab: "\t",
  up: "\u001b[A",
  down: "\u001b[B",
  pageDown: "\u001b[6~",
  altEnter: "\u001b\r",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  ctrlO: "\u000f",
  ctrlP: "\u0010",
  ctrlR: "\u0012",
  shiftTab: "\u001b[Z",
} as const;

const patienceMs = 30_000;

interface FaceSize {
  readonly columns?: number;
  readonly rows?: number;
  /** Default: no colours. */
  readonly paint?: Paint;
  /** The name of the agent. */
  readonly name?: string;
  /** The agent that is started. Default: that one. */
  readonly started?: string;
}

/** Everything ends with the test. */
export async function faceWith(
  t: Pick<TestContext, "after">,
  play: Partial<AgentScenario>,
  { columns = 80, rows = 24, paint = painter(false, {}), name = "far", started = name }: FaceSize = {},
) {
  const far = await farAgent(t, play);
  const { cwd } = chatHome(t, { [name]: far });
  const reviews = new Map<string, SessionReview>();
  // after the conversation, whose turns end with a snapshot
  atEnd(t, () => Promise.all([...reviews.values()].map((review) => review.close())));
  const chat = chatWith(
    t,
    { cwd, agent: started },
    {
      changes(place) {
        const review = new SessionReview(place);
        reviews.set(place.key, review);
        return review;
      },
    },
  );
  const terminal = new HeadlessTerminal(columns, rows);
  const screen = new TerminalScreen(terminal, {});
  const face = new ChatFace({
    screen,
    conversation: chat.conversation,
    paint,
    isAnimated: false,
    editor: "true",
    notifies: false,
    review: ({ key }) => reviews.get(key),
  });
  atEnd(t, () => {
    face.leave();
    screen.close();
  });
  const shown = async () => (await terminal.screen()).join("\n").trimEnd();
  return {
    ...chat,
    far,
    cwd,
    face,
    reviews,
    terminal,
    screen,
    shown,
    /** Resolves with the screen when it shows this. */
    async shows(wanted: RegExp | ((text: string) => boolean)): Promise<string> {
      const isShown = (text: string) => (typeof wanted === "function" ? wanted(text) : wanted.test(text));
      const end = Date.now() + patienceMs;
      let text = "";
      do {
        screen.flush();
        text = await shown();
        if (isShown(text)) return text;
        await new Promise((resolve) => setImmediate(resolve));
      } while (Date.now() < end);
      return assert.fail(`the screen never showed ${wanted}:\n${text}`);
    },
    send(text: string): void {
      terminal.type(text);
      terminal.press(keys.enter);
    },
  };
}
