// Tells the families of models apart by their names, with the habits that each has to be reminded of.

export type Family = "claude" | "gpt" | "gemini" | "other";

/** Works for gateways too: `openrouter/anthropic/claude-sonnet-5`. */
export function familyOf(modelId: string): Family {
  if (/claude/i.test(modelId)) return "claude";
  if (/\b(?:chat)?gpt-|\bcodex\b|\/o\d\b/i.test(modelId) && !/gpt-oss/i.test(modelId)) return "gpt";
  return /gemini/i.test(modelId) ? "gemini" : "other";
}

/** Each family errs in its own way. Other models are mostly open ones, which need the plainest rules. */
export const familyHabits: Readonly<Record<Family, string>> = {
  claude:
    "Do not add files, options, fallbacks or comments beyond the request, and do not write summary files. Do not praise the user or the request.",
  gpt: "Do not end your turn with a plan, a promise or a question that you can answer yourself: do the work. Edit files with the tools instead of printing code to copy. Before a group of calls, say in one sentence what you are about to do.",
  gemini:
    "Do not describe a change: make it. Check that the project has a library before you use it, and that a path exists before you mention it. For an edit, copy the old text from the file, without line numbers.",
  other:
    "Call tools only through the tool interface, never as text in your answer. Use the argument names from the schema. For an edit, copy the old text from the file, with its exact indentation. After each result, decide what to do next; when the work is done, answer without calling tools.",
};
