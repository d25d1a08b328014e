// A command that has been started, by whatever means: what a terminal needs to know of it.

import type { ExitStatus } from "../../model/terminals.ts";
import type { ProcessGroup } from "../process-group.ts";

export interface RunningCommand {
  readonly pid: number;
  readonly group: ProcessGroup;
  /** When the command's own process has ended. Never rejects. */
  readonly exited: Promise<ExitStatus>;
  /** When nobody can write to its output any more; a process that it left behind may hold it open. Never rejects. */
  readonly outputEnded: Promise<void>;
  /** The keyboard and the screen, where it has them. */
  readonly pty: PtyControl | undefined;
  /** Reads no more; whoever still writes gets EPIPE. */
  stopReading(): void;
}

export interface PtyControl {
  /** As if typed. */
  write(data: string): void;
  resize(columns: number, rows: number): void;
}

/** Takes output as it comes. The bytes may be a reused buffer: copy what must outlive the call. */
export type ByteSink = (bytes: Uint8Array) => void;
