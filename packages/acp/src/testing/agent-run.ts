// Runs the steps of a scripted agent in the context of a connection, a session and perhaps a turn and a tool call.

import type { ToolCall } from "../peer/agent/turn/tool-call.ts";
import type { AgentSession, Turn, TurnEnd } from "../peer/agent/turn/turn.ts";
import type { AgentStep } from "./agent-scenario.ts";
import type { Clock, Gates } from "./gates.ts";
import { filled, type ScriptedWire, type Values } from "./scripted-wire.ts";

/** An event that a scripted agent reports, as plain JSON. */
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

/** One connection of a scripted agent. */
export interface AgentRun {
  readonly wire: ScriptedWire;
  readonly gates: Gates;
  readonly clock: Clock;
  readonly runStep: StepRunner;
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal;
  note(event: AgentEvent): void;
  /** Resolves when the next prompt for this session has arrived. */
  nextPrompt(sessionId: string): Promise<void>;
  /** Runs the work when the current turn has been answered. */
  afterTurn(sessionId: string, work: () => void): void;
}

/** The context in which a step runs. */
export interface StepContext {
  readonly run: AgentRun;
  readonly session: AgentSession;
  /** Absent outside turns. */
  readonly turn: Turn | undefined;
  readonly tool: ToolCall | undefined;
  /** The values of `{{name}}` placeholders. */
  readonly values: Record<string, unknown>;
  /** Aborts at the end of the turn or of the connection. */
  readonly signal: AbortSignal;
  /** Whether the script handles its cancellation and goes on after it. */
  handlesCancel: boolean;
}

/** Ends the script and the turn. */
export class Ended {
  readonly end: TurnEnd;
  constructor(end: TurnEnd) {
    this.end = end;
  }
}

/** The end of the turn, or nothing. */
export type StepResult = Promise<Ended | undefined> | Promise<void> | Ended | undefined | void;

export type StepRunner = (step: AgentStep, context: StepContext) => StepResult;

/** The context of steps in a turn or, without one, outside of turns. */
export function stepContext(
  { run, session, values }: Pick<StepContext, "run" | "session" | "values">,
  turn?: Turn,
): StepContext {
  const signal = turn?.signal ?? run.ended;
  return { run, session, values, turn, tool: undefined, signal, handlesCancel: false };
}

/** Runs the steps in order, until one ends the turn or the turn is cancelled. */
export async function runSteps(
  steps: readonly AgentStep[],
  context: StepContext,
): Promise<Ended | undefined> {
  for (const step of steps) {
    if (context.signal.aborted && !context.handlesCancel) return new Ended("cancelled");
    const ended = await context.run.runStep(filledStep(step, context.values), context);
    if (ended instanceof Ended) return ended;
  }
  return undefined;
}

/** Fields with nested steps, whose placeholders are filled in when they run. */
const nested = new Set(["steps", "on", "ops", "later", "work", "after"]);

function filledStep(step: AgentStep, values: Values): AgentStep {
  const fields = Object.entries(step).map(([key, value]) => [
    key,
    nested.has(key) ? value : filled(value, values),
  ]);
  return Object.fromEntries(fields); // the same keys as before
}
