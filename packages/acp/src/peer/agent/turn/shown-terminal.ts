// Implements a terminal that the agent owns and the client only shows.

import { toBase64 } from "../../../base/base64.ts";
import { optional } from "../../../base/objects.ts";
import type { ExitStatus } from "../../../model/content.ts";
import { type SessionUpdates, sentAtOnce } from "../session/session-updates.ts";
import type { DisplayTerminal, DisplayTerminalOptions } from "./tool-call.ts";

export class ShownTerminal implements DisplayTerminal {
  readonly terminalId: string;
  readonly #updates: SessionUpdates;
  readonly #isCancellable: boolean;
  #exited = false;

  constructor(
    updates: SessionUpdates,
    { command, cwd, onCancel }: DisplayTerminalOptions & { readonly cwd: string },
  ) {
    this.#updates = updates;
    this.#isCancellable = onCancel !== undefined;
    this.terminalId = updates.newId();
    void updates.update({
      sessionUpdate: "terminal_update",
      terminalId: this.terminalId,
      cwd,
      ...optional({ command, capabilities: onCancel && { cancel: {} } }),
    });
    if (onCancel !== undefined) updates.work.onCancel("terminal", this.terminalId, onCancel);
  }

  write(output: string | Uint8Array): Promise<void> {
    // a process writes its last output late
    if (this.#exited) return sentAtOnce;
    const bytes = typeof output === "string" ? new TextEncoder().encode(output) : output;
    const update = {
      sessionUpdate: "terminal_output_chunk",
      terminalId: this.terminalId,
      data: toBase64(bytes),
    } as const;
    return this.#updates.update(update) ?? sentAtOnce;
  }

  exit(exitStatus: ExitStatus): void {
    if (this.#exited) return;
    this.#exited = true;
    void this.#updates.updateEnd({
      sessionUpdate: "terminal_update",
      terminalId: this.terminalId,
      exitStatus,
      ...(this.#isCancellable ? { capabilities: null } : {}),
    });
  }
}
