// Implements a terminal that the agent owns and the client only shows.

import { toBase64 } from "../../../base/base64.ts";
import { checkOptions, type Keys } from "../../../base/known-options.ts";
import { optional } from "../../../base/objects.ts";
import { reportRejection } from "../../../jsonrpc/callbacks.ts";
import type { ExitStatus } from "../../../model/content.ts";
import { type SessionUpdates, sentAtOnce } from "../session/session-updates.ts";
import type { DisplayTerminal, DisplayTerminalOptions } from "./tool-call.ts";

const optionKeys: Keys<DisplayTerminalOptions> = { command: true, cwd: true, onCancel: true };

const leftTerminal =
  "output was written to a terminal whose turn or tool call had ended, and is not shown: await the process first, or " +
  "use session.terminal()";

export class ShownTerminal implements DisplayTerminal {
  readonly terminalId: string;
  readonly #updates: SessionUpdates;
  readonly #isCancellable: boolean;
  #exited = false;
  /** Its turn or tool call ended before it did. */
  #isLeft = false;

  constructor(updates: SessionUpdates, options: DisplayTerminalOptions & { readonly cwd: string }) {
    checkOptions("terminal", options, optionKeys);
    const { command, cwd, onCancel } = options;
    this.#updates = updates;
    this.#isCancellable = onCancel !== undefined;
    this.terminalId = updates.newId();
    void updates.update({
      sessionUpdate: "terminal_update",
      terminalId: this.terminalId,
      cwd,
      ...optional({ command, capabilities: onCancel && { cancel: {} } }),
    });
    if (onCancel === undefined) return;
    const { terminalId } = this;
    updates.work.onCancel("terminal", terminalId, () =>
      reportRejection(onCancel(), (error) =>
        updates.sender.log("error", "onCancel of a terminal rejected", { terminalId, error }),
      ),
    );
  }

  write(output: string | Uint8Array): Promise<void> {
    if (this.#exited) {
      // a process writes its last output late, but not after what it belongs to
      if (this.#isLeft) this.#updates.warnOnce(leftTerminal);
      return sentAtOnce;
    }
    const bytes = typeof output === "string" ? new TextEncoder().encode(output) : output;
    const update = {
      sessionUpdate: "terminal_output_chunk",
      terminalId: this.terminalId,
      data: toBase64(bytes),
    } as const;
    return this.#updates.update(update) ?? sentAtOnce;
  }

  /** Ends it with its turn or tool call. */
  leave({ isCancelled }: { readonly isCancelled: boolean }): void {
    this.#isLeft = !this.#exited && !isCancelled;
    this.exit({});
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
