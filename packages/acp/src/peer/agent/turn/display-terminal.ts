// A terminal that the agent owns and the client only shows. Version 1 has none: there it becomes text.

import { optional } from "../../../base/objects.ts";
import type { ExitStatus } from "../../../model/content.ts";
import type { SessionUpdates } from "../session/session-updates.ts";

export interface DisplayTerminalOptions {
  readonly command?: string;
  /** Absolute. Default: the session's working directory. */
  readonly cwd?: string;
  /** The user may cancel it (v2): end your process, and call `exit` when it has ended. */
  readonly onCancel?: () => void;
}

export class DisplayTerminal {
  readonly terminalId: string;
  readonly #updates: SessionUpdates;
  readonly #isCancellable: boolean;
  #exited = false;

  /** @internal */
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

  /** Shows more output. Bytes may end anywhere, also inside a character. */
  write(output: string | Uint8Array): Promise<void> | undefined {
    if (this.#exited) return undefined;
    const bytes = typeof output === "string" ? new TextEncoder().encode(output) : output;
    return this.#updates.update({
      sessionUpdate: "terminal_output_chunk",
      terminalId: this.terminalId,
      data: base64(bytes),
    });
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

  /** @internal Ends it with its turn. */
  close(): void {
    this.exit({});
  }
}

function base64(bytes: Uint8Array): string {
  let text = "";
  // apply takes so many arguments at once
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}
