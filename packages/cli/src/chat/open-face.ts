// Chooses the face of a conversation: plain, or on the screen.

import type { Conversation } from "./conversation/conversation.ts";

export interface FaceOptions {
  /** Append only. */
  readonly isPlain: boolean;
}

/** Shows the conversation until the user leaves. Returns the exit code. */
export async function openFace(conversation: Conversation, _options: FaceOptions): Promise<number> {
  // the inline face is chosen here when it is not plain
  const { showPlainly } = await import("./plain/plain-face.ts");
  return showPlainly(conversation);
}
