// What the face needs after its first paint, in one file to load.

export { extraLines } from "./extra-lines.ts";
export { FaceActions } from "./face-actions.ts";
export { QuestionDock } from "./question-dock.ts";
export { TranscriptPane } from "./transcript-pane.ts";
