// Builds the view of a session for a user interface from its entries, in every JavaScript runtime.

export { gitPatch } from "./model/git-patch.ts";
export { applyEntry, changesSince, createView, type ViewOptions, viewFrom } from "./view/apply-entry.ts";
export { type FollowedSession, type FollowedView, followSession } from "./view/follow-session.ts";
export type * from "./view/session-view.ts";
export { type PlainView, snapshot, type ViewSnapshot } from "./view/snapshot.ts";
