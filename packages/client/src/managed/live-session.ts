// The interfaces of managed sessions and their prompts.

import type { ClientSession, Meta, Prompt } from "@parley/acp";
import type { PromptContent } from "./live-options.ts";
import type { SetupProblem } from "./session-setup.ts";

/** A session that survives a crash of its agent. Prompts wait for one another here. */
export interface LiveSession extends ClientSession {
  /** The problems of the setup. After a restart they are reported as events too. */
  readonly setupProblems: readonly SetupProblem[];
  /** The prompts that wait, oldest first; each can be cancelled by itself. */
  readonly waiting: readonly LivePrompt[];
  /** Sent when all earlier ones have ended, in every version. */
  prompt(content: PromptContent, options?: { readonly meta?: Meta }): LivePrompt;
}

/**
 * A prompt of a managed session. It may be sent more than once: `outcome` is the result of the last attempt, and rejects
 * when the agent crashed and could not be restarted, or wants a login. `accepted` is the message of the first attempt
 * that the agent accepted.
 */
export interface LivePrompt extends Prompt {
  readonly content: PromptContent;
  readonly isSent: boolean;
}
