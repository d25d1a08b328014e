// What a script of the offline model is made of: steps that call tools, and words at the end. A script is started
// again for every request and fed with the outcomes so far, so that the model needs no memory of its own.

import type { ToolOutcome } from "../model/model.ts";

export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** One answer that calls tools. */
export interface Step {
  readonly think?: string;
  readonly say?: string;
  readonly calls: readonly Call[];
}

/** Ends with the last words. */
export type Script<Result = string> = Generator<Step, Result, readonly ToolOutcome[]>;

/** What became of one call. */
export interface Told {
  readonly isError: boolean;
  readonly text: string;
}

export function told(outcome: ToolOutcome | undefined): Told {
  if (outcome === undefined) return { isError: true, text: "It was not run." };
  // of a failure the first part says what happened, and the others what a model may do then
  const parts = outcome.isError ? outcome.content.slice(0, 1) : outcome.content;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return { isError: outcome.isError, text };
}

/** One call, and what became of it. */
export function* call(name: string, input: Call["input"], think?: string): Script<Told> {
  const outcomes = yield { calls: [{ name, input }], ...(think === undefined ? {} : { think }) };
  return told(outcomes[0]);
}

export function fenced(text: string): string {
  const fence = text.includes("```") ? "````" : "```";
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}
