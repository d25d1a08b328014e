// The prompts of a session that have not ended.

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

/** In the order in which they were given. */
export class OpenPrompts {
  #all: readonly OpenPrompt[] = [];
  #given = 0;

  /** Stays as it is when prompts are added or removed. */
  get all(): readonly OpenPrompt[] {
    return this.#all;
  }

  get hasSent(): boolean {
    return this.#all.some(({ isSent }) => isSent);
  }

  /** `isBusy`: the agent works. If nobody here has asked for it, what comes of it is no answer to this prompt. */
  sent(prompt: OpenPrompt, { isBusy }: { readonly isBusy: boolean }): void {
    if (isBusy && !this.hasSent) prompt.handle.awaitOwn();
    prompt.isSent = true;
  }

  add(prompt: Pick<OpenPrompt, "handle" | "content" | "meta">): OpenPrompt {
    const added: OpenPrompt = {
      ...prompt,
      number: ++this.#given,
      withdrawal: new AbortController(),
      ended: Promise.withResolvers(),
      isSent: false,
      messageId: undefined,
    };
    this.#all = [...this.#all, added];
    return added;
  }

  find(number: number): OpenPrompt | undefined {
    return this.#all.find((prompt) => prompt.number === number);
  }

  remove(prompt: OpenPrompt): void {
    this.#all = this.#all.filter((each) => each !== prompt);
  }
}
