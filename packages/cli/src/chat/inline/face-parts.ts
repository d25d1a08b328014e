// What the face needs after its first paint, in one file to load.

export { FaceActions } from "./face-actions.ts";
export { pinnedLines } from "./pinned-lines.ts";
export { QuestionDock } from "./question-dock.ts";
export { TranscriptPane } from "./transcript-pane.ts";
