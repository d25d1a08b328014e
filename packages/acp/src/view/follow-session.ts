// Keeps a view of a session up to date.

import type { NoPromise } from "../base/no-promise.ts";
import type { Entry } from "../model/entry.ts";
import { applyEntry, createView, type ViewOptions } from "./apply-entry.ts";
import type { SessionView } from "./session-view.ts";

/** The part of a session that a view needs. */
export interface FollowedSession {
  /** Returns a function that removes the listener. */
  onEntry(listener: (entry: Entry) => undefined): () => void;
}

/** A view that changes with its session. */
export interface FollowedView extends SessionView {
  /** Stops following; the view stays as it is. */
  [Symbol.dispose](): void;
}

/**
 * Creates a view of a session and keeps it up to date. Call it as soon as you have the session: only a limited number
 * of earlier entries is kept.
 *
 * @param session - A `ClientSession`, for example.
 * @param onChange - Called after each entry that arrives later.
 * @returns The view, with all earlier entries applied.
 *
 * @example
 * import type { ClientSession } from "@parley/acp";
 * import { followSession, type SessionView } from "@parley/acp/view";
 *
 * declare const session: ClientSession;
 *
 * const draw = (view: SessionView) => console.log(view.state, view.timeline.length);
 * const view = followSession(session, draw);
 * draw(view);
 */
export function followSession(
  session: FollowedSession,
  onChange?: (view: FollowedView) => NoPromise,
  options?: ViewOptions,
): FollowedView {
  let unfollow: (() => void) | undefined;
  // not enumerable: a view is data
  const view: FollowedView = Object.defineProperty(createView(options) as FollowedView, Symbol.dispose, {
    value: () => unfollow?.(),
  });
  unfollow = session.onEntry((entry) => {
    const { seq } = view;
    applyEntry(view, entry);
    // earlier entries come while the caller has no view yet
    if (unfollow !== undefined && view.seq !== seq) onChange?.(view);
    return undefined;
  });
  return view;
}
