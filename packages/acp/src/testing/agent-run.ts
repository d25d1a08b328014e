// What the steps of a scripted agent stand on: one connection, one session, perhaps a turn and a tool call.

import type { ToolCall } from "../peer/agent/turn/tool-call.ts";
import type { AgentSession, Turn, TurnEnd } from "../peer/agent/turn/turn.ts";
import type { AgentStep } from "./agent-scenario.ts";
import type { Clock } from "./clock.ts";
import type { Gates } from "./gates.ts";
import { filled, type Values } from "./placeholders.ts";
import type { ScriptedWire } from "./scripted-wire.ts";

/** Something that a scripted agent has learnt, or could not do. Plain JSON. */
export interface AgentEvent {
  readonly event:
    | "prompt"
    | "answer"
    | "read"
    | "written"
    | "terminal"
    | "taken"
    | "called"
    | "cancelled"
    | "login"
    | "option"
    | "unavailable"
    | "failed";
  readonly [detail: string]: unknown;
}

/** One client at a scripted agent. */
export interface AgentRun {
  readonly wire: ScriptedWire;
  readonly gates: Gates;
  readonly clock: Clock;
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal;
  note(event: AgentEvent): void;
  /** Resolves when the next prompt for this session has arrived. */
  nextPrompt(sessionId: string): Promise<void>;
  /** Done when the turn that runs now has been answered. */
  afterTurn(sessionId: string, work: () => void): void;
}

/** Where a step is done. */
export interface Place {
  readonly run: AgentRun;
  readonly session: AgentSession;
  /** Absent outside turns. */
  readonly turn: Turn | undefined;
  readonly tool: ToolCall | undefined;
  /** What `{{name}}` stands for. */
  readonly values: Record<string, unknown>;
  /** Of the turn, or of the connection. */
  readonly signal: AbortSignal;
  /** The script has waited for its cancel, and goes on after it. */
  heedsCancel: boolean;
}

/** The script is over: this is how the turn ends. */
export class Ended {
  readonly end: TurnEnd;
  constructor(end: TurnEnd) {
    this.end = end;
  }
}

export type StepRunner = (step: AgentStep, place: Place) => Promise<Ended | undefined> | Ended | undefined;

/** Does one step after the other, until one ends the turn or the turn is cancelled. */
export async function runSteps(
  steps: readonly AgentStep[],
  place: Place,
  runStep: StepRunner,
): Promise<Ended | undefined> {
  for (const step of steps) {
    if (place.signal.aborted && !place.heedsCancel) return new Ended("cancelled");
    const ended = await runStep(filledStep(step, place.values), place);
    if (ended !== undefined) return ended;
  }
  return undefined;
}

/** Steps inside steps are filled in when their time comes: what they show may not be known yet. */
const nested = new Set(["steps", "on", "ops", "later", "work", "after"]);

function filledStep(step: AgentStep, values: Values): AgentStep {
  const fields = Object.entries(step).map(([key, value]) => [
    key,
    nested.has(key) ? value : filled(value, values),
  ]);
  return Object.fromEntries(fields); // the same keys as before
}
