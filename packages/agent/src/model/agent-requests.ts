// The fixed requests that the agent itself sends to a model; the offline model recognises them.

/** Begins the prompt that `/plan` sends. */
export const planRequest = "Make a plan for the following, show it with the todo tool, and change nothing:";
/** Begins the prompt that `/test` sends. */
export const testRequest = "Run the project's tests and explain what fails.";
/** Asks a model to go on after an answer that was cut off. */
export const continueRequest =
  "[Your last answer reached the limit of output tokens and was cut off there. Continue exactly where it stopped, " +
  "without repeating it. A call that you had started was not run: make it again in smaller pieces.]";
/** Asks a model to go on after an answer whose stream broke off between two blocks. */
export const resumeRequest =
  "[The connection broke off after your last words. Continue exactly there, without repeating them. A call that you had " +
  "started was not run: make it again.]";
/** Begins the last message of a compaction request. */
export const summaryRequest =
  "Summarise this conversation for yourself, so that you can continue without it. Include the goal, constraints and " +
  "decisions, what has been done (with the paths of files read and changed), what is left, and what to do next. " +
  "Do not call tools.";
/** Begins what the agent tells a model besides the words of the user. */
export const noteStart = "<situation>";

/** The words of somebody else without what looks like a note of ours, or like its end. */
export function withoutNotes(text: string): string {
  return text.replaceAll(/<(?=\s*\/?\s*situation\b)/gi, "&lt;");
}
