// What a user interface shows of a session, folded from its entries. Runs wherever JavaScript runs.

export { applyEntry, changesSince, createView, type ViewOptions, viewFrom } from "./view/apply-entry.ts";
export type {
  Changed,
  CompactionItem,
  CurrentMode,
  ElicitationItem,
  FileOperation,
  MessageItem,
  NoticeItem,
  OutputBytes,
  PermissionItem,
  PlanItem,
  SessionMessageItem,
  SessionView,
  SubagentItem,
  TerminalItem,
  TimelineItem,
  ToolCallItem,
  TouchedFile,
  UnknownItem,
  ViewPart,
} from "./view/session-view.ts";
export { snapshot, type ViewSnapshot } from "./view/snapshot.ts";
