// Gives the diffs of all editions one shape: changes and a patch, the path of the only change, and the texts of the file
// where they are known.

import { optional } from "../base/objects.ts";
import { textsFromPatch } from "./apply-patch.ts";
import type { DiffChange } from "./content.ts";
import { gitPatch } from "./git-patch.ts";
import type { Diff, SessionUpdate, ToolCallContent } from "./update.ts";

/**
 * Diffs with more characters are left as they are: making the other form could cost more than reading them did. The
 * diffs of one update share this number.
 */
const maxChars = 512 * 1024;

type Part = Partial<Diff>;

/**
 * What a diff does not say and what follows from it. Texts give the changes and the patch. A single change gives the path.
 * A patch gives the texts of a file that it adds or deletes; of a file that it modifies it has only a part.
 */
function missingParts(diff: Part, most: number): Part {
  const { path, newText, oldText, patch, changes = [] } = diff;
  // an edition may say null for a text that is not there
  if (path !== undefined && newText !== undefined)
    return fromTexts(path, oldText ?? undefined, newText, diff, most);
  const [change] = changes;
  if (changes.length !== 1 || typeof change?.path !== "string") return {};
  const named: Part = path === undefined ? { path: change.path } : {};
  const hasTexts = patch?.format === "git_patch" && oldText === undefined && patch.text.length <= most;
  return hasTexts ? { ...named, ...textsOf(patch.text, change.path, change.operation) } : named;
}

function fromTexts(
  path: string,
  oldText: string | undefined,
  newText: string,
  given: Part,
  most: number,
): Part {
  const operation = oldText === undefined ? "add" : "modify";
  const isKnown = given.changes !== undefined && given.changes.length > 0;
  const changes: Part = isKnown ? {} : { changes: [{ operation, path, fileType: "text" }] };
  const isLarge = newText.length + (oldText?.length ?? 0) > most;
  if (given.patch !== undefined || isLarge) return changes;
  const text = gitPatch(path, oldText, newText);
  // a file that did not change, or a new one without a text
  return text === "" ? changes : { ...changes, patch: { format: "git_patch", text } };
}

function textsOf(patch: string, path: string, operation: DiffChange["operation"]): Part {
  if (operation !== "add" && operation !== "delete") return {};
  const texts = textsFromPatch(patch, path, undefined);
  if (texts === undefined || texts.isPartial) return {};
  const { oldText, newText } = texts;
  return optional({ oldText, newText });
}

/** What a diff among the content of one update lacks. `budget` is what is left for it and those behind it. */
function missingOf(item: ToolCallContent, budget: { left: number }): Part | undefined {
  if (item.type !== "diff") return undefined;
  const chars = charsOf(item);
  const missing = missingParts(item, budget.left);
  // one that is too large for the rest is not read
  if (chars <= budget.left) budget.left -= chars;
  return missing;
}

/** The content of one update with its diffs completed: an edition or an older store may say the texts or the patch alone. */
export function completeContent(content: readonly ToolCallContent[]): ToolCallContent[] {
  const budget = { left: maxChars };
  return content.map((item) => {
    const missing = missingOf(item, budget);
    // itself when there is nothing to add
    return missing === undefined || Object.keys(missing).length === 0 ? item : { ...item, ...missing };
  });
}

/** Completes diffs that were just decoded and that nobody else has seen, in place. */
export function completeDecoded(content: readonly ToolCallContent[] | null | undefined): void {
  const budget = { left: maxChars };
  for (const item of content ?? []) Object.assign(item, missingOf(item, budget));
}

function charsOf({ oldText, newText, patch }: Part): number {
  return (oldText?.length ?? 0) + (newText?.length ?? 0) + (patch?.text?.length ?? 0);
}

/** The same for the content of an update. */
export function completeDecodedUpdate(update: SessionUpdate): void {
  const { sessionUpdate } = update;
  if (sessionUpdate === "tool_call_update") completeDecoded(update.content);
  else if (sessionUpdate === "tool_call_content_chunk") completeDecoded([update.content]);
}
