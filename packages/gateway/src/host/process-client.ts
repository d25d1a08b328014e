// The client of a process, as the process sees it.

export interface ProcessClient {
  readonly connectionId: string;
  /** False while the client is away. */
  readonly isAttached: boolean;
  /** For how many milliseconds the client has been away; 0 while it is there. */
  readonly absentMs: number;
  /** Returns false when it is slow. */
  send(message: object, text?: string): boolean;
  pause(): void;
  resume(): void;
  /** Another client has the process now. */
  lost(process: object): void;
  /** The process ends. */
  over(process: object, reason: string | undefined): void;
}
