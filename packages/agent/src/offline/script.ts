// Defines the offline model's scripts: generators of actions that are replayed for every request of a turn.

import type { ToolOutcome } from "../model/model.ts";

export type Action =
  | { readonly type: "call"; readonly name: string; readonly input: unknown }
  | { readonly type: "text" | "thinking"; readonly text: string }
  | { readonly type: "wait"; readonly seconds: number };

export interface CallResult {
  readonly isError: boolean;
  readonly text: string;
}

/** A call is answered with its result; other actions with nothing. */
export type Script<Result> = Generator<Action, Result, CallResult | undefined>;

const notRun: CallResult = { isError: true, text: "it was not run" };

export function* call(name: string, input: unknown): Script<CallResult> {
  return (yield { type: "call", name, input }) ?? notRun;
}

export function callResult(outcome: ToolOutcome | undefined): CallResult {
  if (outcome === undefined) return notRun;
  // the first part of a failure or of a command is the result, the others are advice for a model
  const isFirst = outcome.isError || outcome.name === "bash";
  const parts = isFirst ? outcome.content.slice(0, 1) : outcome.content;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return { isError: outcome.isError, text };
}
