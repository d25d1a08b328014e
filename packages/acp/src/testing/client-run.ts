// The state of a running client scenario.

import { ConnectionError, RequestError } from "../jsonrpc/errors.ts";
import type { Entry } from "../model/entry.ts";
import type { ClientSession } from "../peer/client/client-session.ts";
import type { ConnectedAgent } from "../peer/client/connected-agent.ts";
import type { StepRecord } from "./client-record.ts";
import type { Clock, Gates } from "./gates.ts";
import type { ScriptedWire } from "./scripted-wire.ts";

/** A session with the name that a step gave it. */
export interface NamedSession {
  session: ClientSession | undefined;
  readonly entries: Entry[];
  /** How many entries there were when the last prompt was sent. */
  promptedAt: number;
  /** Called after every entry; they remove themselves when done. */
  readonly watchers: Set<() => void>;
}

export interface ClientRun {
  readonly agent: ConnectedAgent;
  readonly wire: ScriptedWire;
  readonly gates: Gates;
  readonly clock: Clock;
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal;
  readonly sessions: Map<string, NamedSession>;
  readonly steps: StepRecord[];
  /** Prompts that no step has awaited. */
  readonly open: Promise<void>[];
  /** Sessions whose prompt is cancelled at the next permission request. */
  readonly atPermission: Set<ClientSession>;
}

export function stepError(error: unknown): NonNullable<StepRecord["error"]> {
  if (error instanceof RequestError) return { code: error.code, message: error.message };
  if (error instanceof ConnectionError) return { kind: error.kind, message: error.message };
  return { kind: "mistake", message: error instanceof Error ? error.message : String(error) };
}
