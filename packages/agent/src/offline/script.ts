// Defines the offline model's scripts: generators that yield tool calls and are replayed for every request.

import { optional } from "@parley/acp/internal";
import type { ToolOutcome } from "../model/model.ts";

export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** One answer with tool calls. */
export interface Step {
  readonly think?: string;
  readonly say?: string;
  readonly calls: readonly Call[];
}

/** Returns the final answer. */
export type Script<Result = string> = Generator<Step, Result, readonly ToolOutcome[]>;

export interface CallResult {
  readonly isError: boolean;
  readonly text: string;
}

export function callResult(outcome: ToolOutcome | undefined): CallResult {
  if (outcome === undefined) return { isError: true, text: "It was not run." };
  // the first part of a failure or of a command is the result, the others are advice for a model
  const isFirst = outcome.isError || outcome.name === "bash";
  const parts = isFirst ? outcome.content.slice(0, 1) : outcome.content;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return { isError: outcome.isError, text };
}

/** Makes one call and returns its result. */
export function* call(name: string, input: Call["input"], think?: string): Script<CallResult> {
  const outcomes = yield { calls: [{ name, input }], ...optional({ think }) };
  return callResult(outcomes[0]);
}

export function fenced(text: string): string {
  const fence = text.includes("```") ? "````" : "```";
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}
