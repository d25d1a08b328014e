// The tool calls of the work at hand that have not ended: what a cancel is shown to cancel at once (C26), before the
// agent says how they really ended.

import type { Update } from "../model/update.ts";

export class OpenToolCalls {
  /** Ever heard of: a patch without a status opens a call only if it is the first word about it. */
  readonly #known = new Set<string>();
  readonly #open = new Set<string>();
  readonly #background = new Set<string>();

  note(update: Update): void {
    if (update.sessionUpdate === "tool_call_update") this.#call(update.toolCallId, update.status);
    else if (update.sessionUpdate === "state_update") this.#state(update);
  }

  /** The ones that a cancel ends; what goes on in the background is not among them. */
  ids(): string[] {
    return [...this.#open].filter((id) => !this.#background.has(id));
  }

  /** What is still open is not of the work that comes: it was left behind, or is history. */
  clear(): void {
    this.#open.clear();
  }

  #call(toolCallId: string, status: string | null | undefined): void {
    const isNew = !this.#known.has(toolCallId);
    if (isNew) this.#known.add(toolCallId);
    // a status that nobody knows means still running
    if (status === "completed" || status === "failed" || status === "cancelled")
      this.#open.delete(toolCallId);
    else if (isNew || status !== undefined) this.#open.add(toolCallId);
  }

  #state(update: Extract<Update, { sessionUpdate: "state_update" }>): void {
    if (Array.isArray(update.background)) {
      this.#background.clear();
      for (const work of update.background) {
        if (work.type === "tool_call") this.#background.add(work.toolCallId);
      }
    }
    if (update.state === "idle") this.clear();
  }
}
