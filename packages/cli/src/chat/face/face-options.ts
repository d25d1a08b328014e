// What every face of a conversation gets.

import type { ChatConfig } from "../../settings/chat-config.ts";
import type { LiveSession } from "../conversation/conversation.ts";
import type { SessionReview } from "../review/session-review.ts";

export interface FaceOptions {
  /** Append only. */
  readonly isPlain: boolean;
  readonly config: ChatConfig;
  review(session: LiveSession): SessionReview | undefined;
  /** Aborts when the conversation must end. */
  readonly ending: AbortSignal;
}
