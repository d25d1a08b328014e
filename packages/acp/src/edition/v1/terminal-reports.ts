// Sends display terminals to version 1 clients that show them: in the `_meta` of the tool call that shows the terminal.

import { fromBase64 } from "../../base/base64.ts";
import { optional } from "../../base/objects.ts";
import type { UpdateOf } from "../../model/update.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { Lost } from "../agent-edition.ts";

export type TerminalUpdate = UpdateOf<"terminal_update" | "terminal_output_chunk">;

class ReportedTerminal {
  /** The call that shows it, once there is one. */
  toolCallId: string | undefined;
  command: string | undefined;
  cwd: string | undefined;
  readonly decoder = new TextDecoder();
  /** Output that waits for a call to show it. */
  waiting = "";
  exit: object | undefined;
  hasOutput = false;
}

/** How much output of a terminal waits for a call: its end. */
const maxWaiting = 256 * 1024;

/** Resets a terminal: what it shows is replaced. */
const reset = "\u001bc";

export class TerminalReports {
  readonly #terminals = new Map<string, ReportedTerminal>();

  /**
   * A call shows the terminal. Gives what its `_meta` must say, and what is sent behind it; undefined when another call,
   * or this one, already shows it.
   */
  shown(
    terminalId: string,
    toolCallId: string,
  ): { readonly info: object; readonly behind: readonly wire.SessionUpdate[] } | undefined {
    const terminal = this.#find(terminalId);
    if (terminal.toolCallId !== undefined) return undefined;
    terminal.toolCallId = toolCallId;
    const { command, cwd } = terminal;
    const info = { terminal_info: { terminal_id: terminalId, ...optional({ command, cwd }) } };
    return { info, behind: this.#flush(terminalId, terminal) };
  }

  update(update: TerminalUpdate, lost?: Lost): readonly wire.SessionUpdate[] {
    const { terminalId } = update;
    const terminal = this.#find(terminalId);
    if (update.sessionUpdate === "terminal_output_chunk") append(terminal, update.data, lost);
    else {
      terminal.command = update.command ?? terminal.command;
      terminal.cwd = update.cwd ?? terminal.cwd;
      if (update.output !== undefined) {
        terminal.waiting = terminal.hasOutput ? reset : "";
        if (update.output !== null) append(terminal, update.output.data, lost);
      }
      if (update.exitStatus != null) {
        const { exitCode = null, signal = null } = update.exitStatus;
        terminal.exit = { terminal_id: terminalId, exit_code: exitCode, signal };
      }
    }
    return this.#flush(terminalId, terminal);
  }

  #flush(terminalId: string, terminal: ReportedTerminal): readonly wire.SessionUpdate[] {
    const { toolCallId, waiting, exit } = terminal;
    if (toolCallId === undefined) return [];
    const metas: wire.Meta[] = [];
    if (waiting !== "") {
      metas.push({ terminal_output: { terminal_id: terminalId, data: waiting } });
      terminal.waiting = "";
      terminal.hasOutput = true;
    }
    if (exit !== undefined) {
      metas.push({ terminal_exit: exit });
      terminal.exit = undefined;
    }
    return metas.map((_meta) => ({ sessionUpdate: "tool_call_update", toolCallId, _meta }));
  }

  #find(terminalId: string): ReportedTerminal {
    const terminal = this.#terminals.get(terminalId) ?? new ReportedTerminal();
    this.#terminals.set(terminalId, terminal);
    return terminal;
  }
}

function append(terminal: ReportedTerminal, base64: string, lost?: Lost): void {
  const bytes = fromBase64(base64);
  if (bytes === undefined) return lost?.("output of a terminal that is not base64");
  terminal.waiting += terminal.decoder.decode(bytes, { stream: true });
  // a call that shows it takes everything at once
  if (terminal.toolCallId === undefined && terminal.waiting.length > 2 * maxWaiting)
    terminal.waiting = terminal.waiting.slice(-maxWaiting);
}
