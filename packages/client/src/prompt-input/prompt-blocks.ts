// Builds the blocks of a prompt: the text, mentioned files, pasted images, and what the agent is told beside.

import type { ContentBlock } from "@parley/acp";
import type { AttachedText, ChatInput } from "./chat-input.ts";
import type { AcceptedContent } from "./mentioned-file.ts";
import { promptContent } from "./prompt-content.ts";

export interface BuiltPrompt {
  readonly content: readonly ContentBlock[];
  /** For the user, one line each. */
  readonly notes: readonly string[];
}

/** `told` follows the text, so that a command of the agent stays the first word. */
export async function promptBlocks(
  { text, images = [], content: prepared }: ChatInput,
  told: readonly AttachedText[],
  { cwd, accepts }: { readonly cwd: string; readonly accepts: AcceptedContent },
): Promise<BuiltPrompt> {
  const given = prepared === undefined ? text : "";
  const { content: built, notes } = await promptContent({ text: given, attached: told }, { cwd, accepts });
  const content = [...(prepared ?? []), ...built];
  if (images.length === 0) return { content, notes };
  if (!accepts.image) {
    const what = images.length === 1 ? "the image is" : `${images.length} images are`;
    return { content, notes: [...notes, `${what} left out: this agent takes no images`] };
  }
  const blocks = images.map(({ mimeType, data }): ContentBlock => ({ type: "image", mimeType, data }));
  return { content: [...content, ...blocks], notes };
}
