// Reviews what an agent changed, and takes it back.

export type { ReviewLimits } from "./files/source.ts";
export type { UndoTarget } from "./ledger/ledger.ts";
export type {
  Changes,
  FileChange,
  FileOutcome,
  Hunk,
  HunkLine,
  HunkState,
  Turn,
  UndoResult,
} from "./ledger/review-types.ts";
export { openReview, type ReviewOptions } from "./open-review.ts";
export type { Review } from "./review-session.ts";
