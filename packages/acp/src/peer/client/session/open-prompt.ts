// A prompt of a session that has not ended.

import type { ContentBlock, Meta } from "../../../model/content.ts";
import type { PromptHandle } from "./prompt-handle.ts";

export interface OpenPrompt {
  readonly number: number;
  readonly handle: PromptHandle;
  readonly content: readonly ContentBlock[];
  readonly meta: Meta | undefined;
  readonly withdrawal: AbortController;
  readonly ended: PromiseWithResolvers<undefined>;
  isSent: boolean;
  /** Once it is part of the conversation. */
  messageId: string | undefined;
}
