// Chooses the face of a conversation: plain, or on the screen.

import type { Conversation } from "@parley/client/conversation";
import type { ChatConfig } from "../settings/chat-config.ts";
import { howToContinue } from "../settings/installation.ts";
import { type ThemeName, themeNames } from "../terminal/paint.ts";
import type { Conversations } from "./conversation/conversations.ts";
import type { SessionReview } from "./review/session-review.ts";

export interface FaceOptions {
  /** Append only. */
  readonly isPlain: boolean;
  readonly config: ChatConfig;
  review(session: Conversation): SessionReview | undefined;
  /** Aborts when the conversation must end. */
  readonly ending: AbortSignal;
  /** The options with which the conversation is continued. */
  readonly again: readonly string[];
}

/** Returns a function that shows the conversation until the user leaves, and returns the exit code. */
export async function loadFace(
  options: FaceOptions,
): Promise<(conversation: Conversations) => Promise<number>> {
  if (options.isPlain) {
    const { showPlainly } = await import("./plain/plain-face.ts");
    const { review, ending, again } = options;
    return async (conversation) => {
      const exitCode = await showPlainly(conversation, { review, ending });
      // what reads a pipe wants the conversation only
      if (process.stdin.isTTY === true && process.stdout.isTTY === true)
        sayHowToContinue(conversation, ending, again);
      return exitCode;
    };
  }
  const { showInline } = await import("./inline/open-inline.ts");
  return (conversation) => showOnScreen(conversation, options, showInline);
}

async function showOnScreen(
  conversation: Conversations,
  { config, review, ending, again }: FaceOptions,
  showInline: typeof import("./inline/open-inline.ts").showInline,
): Promise<number> {
  const theme = themeNames.find((name): name is ThemeName => name === config.theme);
  await showInline(conversation, {
    ...(theme && { theme }),
    isAnimated: config.animations ?? true,
    hasMouse: config.mouse ?? false,
    notifies: config.notify ?? true,
    ...(config.editor !== undefined && { editor: config.editor }),
    review,
    ending,
  });
  sayHowToContinue(conversation, ending, again);
  return 0;
}

function sayHowToContinue({ current }: Conversations, ending: AbortSignal, again: readonly string[]): void {
  const { historyId, view } = current;
  if (ending.aborted || historyId === undefined || view.timeline.length === 0) return;
  process.stdout.write(`${howToContinue(["chat", "--session", historyId, ...again])}\n`);
}
