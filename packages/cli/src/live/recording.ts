// What records sessions, to be loaded with the history. The package as a whole would bring everything with it.

export { openHistory } from "@parley/client/history";
export { historyFile } from "@parley/client/internal";
