// Reviews what an agent changed, and takes it back.

export type { ReviewLimits } from "./files/source.ts";
export {
  type RepositoryQuestion,
  type RepositoryStatus,
  repositoryFiles,
  repositoryStatus,
} from "./git/repository-facts.ts";
export type {
  Changes,
  FileChange,
  FileOutcome,
  Hunk,
  HunkLine,
  HunkState,
  PastTurn,
  Review,
  ReviewTurn,
  UndoResult,
  UndoTarget,
} from "./ledger/review-types.ts";
export { openReview, type ReviewOptions } from "./open-review.ts";
