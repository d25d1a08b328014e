// A view as plain JSON: for tests, exports and whoever wants to compare two views.

import type { OutputBytes, SessionView } from "./session-view.ts";

/** A value as JSON has it: lists for maps and sets. */
type Plain<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends OutputBytes
    ? Pick<OutputBytes, "received" | "dropped" | "generation" | "undecodable"> & { readonly text: string }
    : Value extends ReadonlyMap<unknown, infer Item>
      ? readonly Plain<Item>[]
      : Value extends ReadonlySet<infer Item>
        ? readonly Plain<Item>[]
        : Value extends readonly (infer Item)[]
          ? readonly Plain<Item>[]
          : Value extends object
            ? { readonly [Field in keyof Value]: Plain<Value[Field]> }
            : Value;

/** Maps and sets are lists in order of first sight; what is not reported is left out, and tool calls are in the timeline. */
export type ViewSnapshot = {
  readonly [Field in Exclude<keyof SessionView, "pendingAsks" | "toolCalls" | "subagents">]?: Plain<
    SessionView[Field]
  >;
} & { readonly pendingAsks?: readonly string[] };

/** A copy that shares nothing with the view. Equal entries give equal snapshots. */
export function snapshot(view: SessionView): ViewSnapshot {
  const { seq, version, timeline, terminals, plans, files, commands, configOptions, mode } = view;
  const { usage, cost, title, updatedAt, meta, state, busy, background, completions, lastOutcome } = view;
  const pendingAsks = [...view.pendingAsks.keys()];
  // Tool calls and subagents are in the timeline.
  const shown = {
    seq,
    version,
    timeline,
    terminals,
    plans,
    files,
    pendingAsks,
    commands,
    configOptions,
    mode,
  };
  const rest = { usage, cost, title, updatedAt, meta, state, busy, background, completions, lastOutcome };
  return JSON.parse(JSON.stringify({ ...shown, ...rest }, plain));
}

function plain(_key: string, value: unknown): unknown {
  if (value instanceof Map) return [...value.values()];
  return value instanceof Set ? [...value] : value;
}
