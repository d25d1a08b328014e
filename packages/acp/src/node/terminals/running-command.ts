// The interface of a running command.

import type { ExitStatus } from "../../model/terminals.ts";
import type { ProcessGroup } from "../process-group.ts";

export interface RunningCommand {
  readonly pid: number;
  readonly group: ProcessGroup;
  /** Resolves when the command's own process has exited. Never rejects. */
  readonly exited: Promise<ExitStatus>;
  /** Resolves when all writers have closed its output, background processes included. Never rejects. */
  readonly outputEnded: Promise<void>;
  /** Controls the pseudo-terminal, if it has one. */
  readonly pty: PtyControl | undefined;
  /** Stops reading; further writes fail with EPIPE. */
  stopReading(): void;
}

export interface PtyControl {
  /** Sends input, as if typed. */
  write(data: string): void;
  resize(columns: number, rows: number): void;
}

/** Receives output. The buffer may be reused: copy the bytes to keep them. */
export type ByteSink = (bytes: Uint8Array) => void;
