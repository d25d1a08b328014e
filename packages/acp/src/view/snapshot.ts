// Converts a view to plain JSON, to compare or export it.

import type { MessageItem, OutputBytes, SessionView } from "./session-view.ts";

/** The JSON form of a value; maps and sets become lists. */
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
            ? // the text of a message is that of its content
              {
                readonly [Field in Exclude<keyof Value, Value extends MessageItem ? "text" : never>]: Plain<
                  Value[Field]
                >;
              }
            : Value;

/** A view as JSON: maps and sets are lists, undefined fields are left out, and tool calls are in the timeline only. */
export type ViewSnapshot = {
  readonly [Field in Exclude<keyof SessionView, "pendingAsks" | "toolCalls" | "subagents">]?: Plain<
    SessionView[Field]
  >;
} & { readonly pendingAsks?: readonly string[] };

/** Copies the view. Equal entries give equal snapshots. */
export function snapshot(view: SessionView): ViewSnapshot {
  // tool calls and subagents are in the timeline; `fold` is internal state
  const { toolCalls, subagents, fold, pendingAsks, ...shown } = view as SessionView & { fold?: unknown };
  return JSON.parse(JSON.stringify({ ...shown, pendingAsks: [...pendingAsks.keys()] }, plain));
}

function plain(_key: string, value: unknown): unknown {
  if (value instanceof Map) return [...value.values()];
  return value instanceof Set ? [...value] : value;
}
