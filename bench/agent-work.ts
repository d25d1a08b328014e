// Parses the task of a benchmark's agent from its prompt.

import { streams } from "./messages.ts";
import { type Usage, usage } from "./usage.ts";

/** A stream of `session/update` notifications: the params of number i, and how many. */
export interface Work {
  readonly params: (i: number) => ReturnType<(typeof streams)[keyof typeof streams]>;
  readonly count: number;
}

/** `chunks 1000`, `mix 1000` or `long 1000` as the first block of a prompt; any other text means no updates. */
export function workOf(prompt: readonly { readonly type: string }[]): Work {
  const first = prompt[0];
  const text = first !== undefined && "text" in first ? String(first.text) : "";
  const [name, count] = text.split(" ");
  if (name === "chunks" || name === "mix" || name === "long")
    return { params: streams[name], count: Number(count) };
  return { params: streams.chunks, count: 0 };
}

/** The answer to `session/prompt`, with what this process has used until now. */
export function promptResult(): { stopReason: "end_turn"; _meta: { usage: Usage } } {
  return { stopReason: "end_turn", _meta: { usage: usage() } };
}
