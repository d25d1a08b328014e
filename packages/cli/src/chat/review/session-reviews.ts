// The reviews of all sessions of a conversation.

import type { ChangesPlace } from "../conversation/chat-conversation.ts";
import type { Conversation, LiveSession } from "../conversation/conversation.ts";
import { SessionReview } from "./session-review.ts";

export class SessionReviews {
  readonly #reviews = new Map<string, SessionReview>();

  /** For the conversation, which calls it with each session. */
  readonly follow = (place: ChangesPlace): SessionReview => {
    const review = new SessionReview(place);
    this.#reviews.set(place.key, review);
    return review;
  };

  of({ key }: LiveSession): SessionReview | undefined {
    return this.#reviews.get(key);
  }

  /** Keeps the files that tool calls name as they are before they are written. */
  watch(conversation: Conversation): void {
    conversation.onEvent((event) => {
      if (event.kind === "entries") this.of(event.session)?.observe(event.session.view);
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#reviews.values()].map((review) => review.close()));
  }
}
