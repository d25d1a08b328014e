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

/** Shows the conversation until the user leaves. Returns the exit code. */
export async function openFace(
  conversation: Conversation,
  { isPlain, reviews }: FaceOptions,
): Promise<number> {
  if (isPlain) {
    const { showPlainly } = await import("./plain/plain-face.ts");
    return showPlainly(conversation);
  }
  const { showInline } = await import("./inline/open-inline.ts");
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
