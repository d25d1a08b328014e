// What a user writes, and text that is sent beside it: plain data, for front ends too.

import type { ContentBlock } from "@parley/acp";

/** The input of the user. */
export interface ChatInput {
  /** The text, with `@FILE` mentions. */
  readonly text: string;
  /** Images that were pasted, in the order of their marks `[image N]` in the text. */
  readonly images?: readonly PastedImage[];
  /** What is sent, if it was prepared already. Default: the text with its mentions, and the images. */
  readonly content?: readonly ContentBlock[];
}

/** An image that was pasted. */
export interface PastedImage {
  /** Such as "image/png". */
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

/** Text that the user did not write, with a name for whoever reads the transcript. */
export interface AttachedText {
  /** A few words, such as "the output of npm test". They are in `_meta` of the block, under "_parley.dev/name". */
  readonly name: string;
  /** The text, for the agent. */
  readonly text: string;
}
