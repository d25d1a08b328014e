// Chooses the face of a conversation: plain, or on the screen.

import { readConfig } from "../settings/config-file.ts";
import { commandToType } from "../settings/installation.ts";
import { themeNames } from "../terminal/paint.ts";
import type { Conversation } from "./conversation/conversation.ts";
import type { SessionReviews } from "./review/session-reviews.ts";

export interface FaceOptions {
  /** Append only. */
  readonly isPlain: boolean;
  readonly reviews: SessionReviews;
}

/** Returns a function that shows the conversation until the user leaves, and returns the exit code. */
export async function loadFace({
  isPlain,
  reviews,
}: FaceOptions): Promise<(conversation: Conversation) => Promise<number>> {
  if (isPlain) return (await import("./plain/plain-face.ts")).showPlainly;
  const { showInline } = await import("./inline/open-inline.ts");
  return (conversation) => showOnScreen(conversation, reviews, showInline);
}

async function showOnScreen(
  conversation: Conversation,
  reviews: SessionReviews,
  showInline: typeof import("./inline/open-inline.ts").showInline,
): Promise<number> {
  const { chat = {} } = readConfig(() => undefined);
  const theme = themeNames.find((name) => name === chat.theme);
  await showInline(conversation, {
    ...(theme && { theme }),
    ...(chat.editor && { editor: chat.editor }),
    isAnimated: chat.animations ?? true,
    notifies: chat.notify ?? true,
    review: (session) => reviews.of(session),
  });
  const { historyId, view } = conversation.current;
  if (historyId !== undefined && view.timeline.length > 0)
    process.stdout.write(`continue with: ${commandToType()} chat --session ${historyId}\n`);
  return 0;
}
