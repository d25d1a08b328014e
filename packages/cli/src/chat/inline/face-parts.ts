// What the face needs after its first paint, in one file to load.

export { planLines } from "../../draw/plan-lines.ts";
export { questionSheet } from "../sheets/question-sheet.ts";
export { TranscriptFeed } from "../transcript/transcript-feed.ts";
export { FaceActions } from "./face-actions.ts";
