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
 * What a diff does not say and what follows from it, beside the patch. Texts give the changes. A single change gives the
 * path. A patch gives the texts of a file that it adds or deletes; of a file that it modifies it has only a part.
 */
function missingParts(diff: Part, most: number): Part {
  const { path, newText, oldText, changes = [] } = diff;
  if (path !== undefined && newText !== undefined) {
    // an edition may say null for a text that is not there
    const operation = oldText == null ? "add" : "modify";
    return changes.length > 0 ? {} : { changes: [{ operation, path, fileType: "text" }] };
  }
  const [change] = changes;
  if (changes.length !== 1 || typeof change?.path !== "string") return {};
  const { patch } = diff;
  const named: Part = path === undefined ? { path: change.path } : {};
  const hasTexts = patch?.format === "git_patch" && oldText === undefined && patch.text.length <= most;
  return hasTexts ? { ...named, ...textsOf(patch.text, change.path, change.operation) } : named;
}

/** Whether the texts of a diff give a patch that it does not have. */
function lacksPatch(diff: Part, most: number): boolean {
  const { path, newText, oldText } = diff;
  if (path === undefined || newText === undefined || Object.hasOwn(diff, "patch")) return false;
  // a file that did not change, or a new one without a text, has none
  return newText !== (oldText ?? "") && newText.length + (oldText?.length ?? 0) <= most;
}

/** Makes the patch when it is first read: it can cost more than all else about an update, and few apps read it. */
const patchOnDemand: PropertyDescriptor & ThisType<Diff & { path: string; newText: string }> = {
  configurable: true,
  enumerable: true,
  get() {
    const value = { format: "git_patch", text: gitPatch(this.path, this.oldText ?? undefined, this.newText) };
    // not if an app has frozen the diff
    Reflect.defineProperty(this, "patch", { value, configurable: true, enumerable: true, writable: true });
    return value;
  },
};

function textsOf(patch: string, path: string, operation: DiffChange["operation"]): Part {
  if (operation !== "add" && operation !== "delete") return {};
  const texts = textsFromPatch(patch, path, undefined);
  if (texts === undefined || texts.isPartial) return {};
  const { oldText, newText } = texts;
  return optional({ oldText, newText });
}

/** The content of one update with its diffs completed: an edition or an older store may say the texts or the patch alone. */
export function completeContent(content: readonly ToolCallContent[]): ToolCallContent[] {
  const complete = [...content];
  eachIncomplete(content, (diff, at) => {
    complete[at] = { ...diff };
    return complete[at];
  });
  return complete;
}

/** Completes diffs that were just decoded and that nobody else has seen, in place. */
export function completeDecoded(content: readonly ToolCallContent[] | null | undefined): void {
  if (content != null) eachIncomplete(content, (diff) => diff);
}

/** Adds what each diff of one update lacks to the object that `target` gives for it. */
function eachIncomplete(
  content: readonly ToolCallContent[],
  target: (diff: ToolCallContent, at: number) => object,
): void {
  let left = maxChars;
  for (const [at, item] of content.entries()) {
    if (item.type !== "diff") continue;
    const missing = missingParts(item, left);
    const isWithoutPatch = lacksPatch(item, left);
    const chars = charsOf(item);
    // one that is too large for the rest is not read
    if (chars <= left) left -= chars;
    if (!isWithoutPatch && Object.keys(missing).length === 0) continue;
    const diff = Object.assign(target(item, at), missing);
    if (isWithoutPatch) Object.defineProperty(diff, "patch", patchOnDemand);
  }
}

/** What completing a diff may have to read. */
function charsOf(diff: Part): number {
  const { oldText, newText } = diff;
  return newText === undefined ? (diff.patch?.text?.length ?? 0) : newText.length + (oldText?.length ?? 0);
}

/** The same for the content of an update. */
export function completeDecodedUpdate(update: SessionUpdate): void {
  const { sessionUpdate } = update;
  if (sessionUpdate === "tool_call_update") completeDecoded(update.content);
  else if (sessionUpdate === "tool_call_content_chunk") completeDecoded([update.content]);
}
