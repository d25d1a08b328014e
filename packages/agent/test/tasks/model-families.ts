// Three families of models, each at its own provider: one writes calls as asked for, one by the names that it knows from
// other agents, one with another indentation than the file's.

import { anthropicEvents, anthropicFault } from "../fake-provider/anthropic-wire.ts";
import { chatEvents, chatFault } from "../fake-provider/chat-wire.ts";
import { responsesEvents } from "../fake-provider/responses-wire.ts";
import type { Call } from "./repository-tasks.ts";

export interface ModelFamily {
  readonly name: string;
  /** The id of a model at the provider whose protocol the family speaks. */
  readonly model: string;
  /** A call as this family writes it. */
  spelt(call: Call): Call;
  /** An answer of the provider: calls, or text. */
  answer(calls: readonly Call[], text: string): string[];
  /** What the provider would refuse in a request. */
  fault(body: never): string | undefined;
}

const withIds = (calls: readonly Call[], prefix: string) =>
  calls.map(([name, input], at) => ({ id: `${prefix}_${at}`, name, json: [JSON.stringify(input)] }));

const otherNames: Readonly<Record<string, string>> = {
  path: "file_path",
  oldText: "old_string",
  newText: "new_string",
  replaceAll: "replace_all",
  command: "cmd",
  from: "source",
  to: "destination",
};

/** Other names, numbers and booleans as text, and the only edit beside the path. */
function sloppy([tool, input]: Call): Call {
  const { edits, ...rest } = input;
  const flat = Array.isArray(edits) && edits.length === 1 ? { ...rest, ...edits[0] } : input;
  const spelt = Object.entries(flat).map(([name, value]) => [
    (tool === "read" || tool === "edit" || tool === "write" || tool === "bash" || tool === "move"
      ? otherNames[name]
      : undefined) ?? name,
    typeof value === "number" || typeof value === "boolean" ? String(value) : value,
  ]);
  return [tool, Object.fromEntries(spelt)];
}

/** Code without the indentation that its place in the file gives it, and with four spaces for each further step. */
function unindented([tool, input]: Call): Call {
  const { edits } = input;
  if (tool !== "edit" || !Array.isArray(edits)) return [tool, input];
  const changed = (edits as { oldText: string; newText: string }[]).map((each) =>
    each.oldText.includes("\n")
      ? { ...each, oldText: shifted(each.oldText), newText: shifted(each.newText) }
      : each,
  );
  return [tool, { ...input, edits: changed }];
}

function shifted(text: string): string {
  const lines = text.split("\n");
  const start = /^\s*/.exec(lines[0] ?? "")?.[0] ?? "";
  const bare = lines.map((line) => (line.startsWith(start) ? line.slice(start.length) : line));
  const step = start.includes("\t") ? "\t" : "  ";
  return bare
    .map((line) => {
      let depth = 0;
      while (line.startsWith(step, depth * step.length)) depth += 1;
      return `${(step === "\t" ? "    " : step).repeat(depth)}${line.slice(depth * step.length)}`;
    })
    .join("\n");
}

export const modelFamilies: readonly ModelFamily[] = [
  {
    name: "exact",
    model: "anthropic/claude-sonnet-5-5",
    spelt: (call) => call,
    answer: (calls, text) =>
      anthropicEvents({
        blocks:
          calls.length === 0
            ? [{ type: "text", pieces: [text] }]
            : withIds(calls, "toolu").map((call) => ({ type: "tool" as const, ...call })),
      }),
    fault: anthropicFault,
  },
  {
    name: "sloppy arguments",
    model: "vllm/qwen3-coder",
    spelt: sloppy,
    answer: (calls, text) =>
      chatEvents(calls.length === 0 ? { text: [text] } : { calls: withIds(calls, "call") }),
    fault: chatFault,
  },
  {
    name: "wrong indentation",
    model: "openai/gpt-6.1-sol",
    spelt: unindented,
    answer: (calls, text) =>
      responsesEvents(calls.length === 0 ? { text: [text] } : { calls: withIds(calls, "fc") }),
    fault: () => undefined,
  },
];
