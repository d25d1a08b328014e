// What records a session, in a file of its own: a part of a package that is loaded by its entry point brings all of it.

export { openHistory } from "@parley/client/history";
export { managedRecorder, recordingHistory } from "@parley/client/internal";
